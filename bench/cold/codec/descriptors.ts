import { createCodec } from "../../../src/codec-api.ts";
import type { Transcode } from "../calls.ts";
import { readDescriptors } from "../descriptors.ts";

export function open(set: ArrayBuffer, message: string): Transcode {
  const { type, registry } = readDescriptors(set, message);
  const codec = createCodec(type, { registry });
  return (json) => codec.decode(codec.encode(json));
}
