/** All that can be fuzzed, by the name that `npm run fuzz` knows it under. */
import { descriptor, image, json, leftovers, multipart, wire } from "./messages.ts";
import { path, query, template } from "./paths.ts";
import { connectGet, envelope, form, grpcWeb, headers } from "./protocols.ts";
import type { Target } from "./target.ts";

export const TARGETS: Readonly<Record<string, Target>> = {
  template,
  path,
  query,
  json,
  wire,
  leftovers,
  envelope,
  "connect-get": connectGet,
  "grpc-web": grpcWeb,
  multipart,
  form,
  headers,
  image,
  descriptor,
};
