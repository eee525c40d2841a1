/** Descriptors as users of @bufbuild/protobuf have them at run time. */
import { createFileRegistry, type DescMessage, type FileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

export function readDescriptors(
  set: ArrayBuffer,
  message: string,
): { readonly type: DescMessage; readonly registry: FileRegistry } {
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, new Uint8Array(set)));
  const type = registry.getMessage(message);
  if (!type) throw new Error(`no message ${message}`);
  return { type, registry };
}
