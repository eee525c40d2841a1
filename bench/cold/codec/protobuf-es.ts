import { fromBinary, fromJson, toBinary, toJson } from "@bufbuild/protobuf";
import type { Transcode } from "../calls.ts";
import { readDescriptors } from "../descriptors.ts";

export function open(set: ArrayBuffer, message: string): Transcode {
  const { type, registry } = readDescriptors(set, message);
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  return (json) => {
    const wire = toBinary(type, fromJson(type, JSON.parse(decoder.decode(json)), { registry }));
    return encoder.encode(JSON.stringify(toJson(type, fromBinary(type, wire), { registry })));
  };
}
