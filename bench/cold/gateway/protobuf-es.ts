import { fromBinary, fromJson, toBinary, toJson } from "@bufbuild/protobuf";
import type { Gateway } from "../../../src/serve.ts";
import { BACKENDS } from "../calls.ts";
import { readDescriptors } from "../descriptors.ts";

/** The least that anybody without a gateway would write: one route, no checks, no metadata. */
export function open(set: ArrayBuffer, message: string): Gateway {
  const { type, registry } = readDescriptors(set, message);
  return {
    async fetch(request) {
      const wire = toBinary(type, fromJson(type, await request.json(), { registry }));
      const response = await BACKENDS["*"].fetch(request.url, {
        method: "POST",
        body: wire as Uint8Array<ArrayBuffer>,
      });
      const answer = fromBinary(type, new Uint8Array(await response.arrayBuffer()));
      return Response.json(toJson(type, answer, { registry }));
    },
  };
}
