import { compileCodec } from "../../../src/codec/compile.ts";
import { readImage } from "../../../src/schema/image-read.ts";
import type { Transcode } from "../calls.ts";

const options = {
  unknownFields: "error",
  emitDefaults: false,
  useProtoFieldName: false,
  enumAsInteger: false,
  int64AsNumber: false,
  maxDepth: 100,
} as const;

export function open(image: ArrayBuffer, name: string): Transcode {
  const registry = readImage(image);
  const message = registry.message(name);
  if (!message) throw new Error(`no message ${name}`);
  const codec = compileCodec(message, { registry, options });
  return (json) => codec.decode(codec.encode(json));
}
