/** What the runner knows of the schema: descriptors, and messages from canonical ProtoJSON. */
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import {
  clone,
  createFileRegistry,
  createRegistry,
  type DescMessage,
  type DescMethod,
  equals,
  type FileRegistry,
  fromBinary,
  fromJson,
  type JsonValue,
  type Message,
  type Registry,
  toBinary,
} from "@bufbuild/protobuf";
import { type DescriptorProto, type FileDescriptorSet, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { compileProtos } from "../../src/node/protos.ts";
import type { Json } from "./case.ts";
import { restoreTypeUrls } from "./type-urls.ts";

export interface Descriptors {
  /** Bytes of the FileDescriptorSet, for the gateway. */
  readonly set: Uint8Array;
  /** The schema and google.rpc's error details. */
  readonly registry: Registry;
  readonly files: FileRegistry;
  /** @param name `pkg.Service/Method`. Undefined when there is none. */
  method(name: string): DescMethod | undefined;
  /** @throws Error when the JSON is not the message's canonical ProtoJSON. */
  fromCanonicalJson(desc: DescMessage, json: Json): Message;
  /** Equal to the last bit: NaN equals NaN, -0 does not equal 0, unknown fields count. */
  equal(desc: DescMessage, a: Message, b: Message): boolean;
}

/** @param protoFile the schema; compiled in a folder of its own. */
export async function readDescriptors(protoFile: string): Promise<Descriptors> {
  const set = await compileAlone(protoFile);
  const details = await compileProtos(fileURLToPath(new URL("../../proto", import.meta.url)));
  const message = fromBinary(FileDescriptorSetSchema, set);
  const files = createFileRegistry(message);
  const registry = createRegistry(createFileRegistry(fromBinary(FileDescriptorSetSchema, details)), files);
  const canonical = createFileRegistry(withoutProtoNames(message));
  const canonicalRegistry = createRegistry(registry, canonical);
  return {
    set,
    registry,
    files,
    method(name) {
      const [service = "", method = ""] = name.split("/");
      return files.getService(service)?.methods.find((desc) => desc.name === method);
    },
    fromCanonicalJson(desc, json) {
      const reader = canonical.getMessage(desc.typeName) ?? desc;
      const read = fromJson(reader, json as JsonValue, { registry: canonicalRegistry });
      restoreTypeUrls(reader, read, json);
      return fromBinary(desc, toBinary(reader, read));
    },
    equal(desc, a, b) {
      if (isDeepStrictEqual(a, b)) return true;
      return holdsAny(a) && equals(desc, a, b, { registry, unpackAny: true, unknown: true });
    },
  };
}

async function compileAlone(protoFile: string): Promise<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), "isthmus-cases-proto-"));
  try {
    await cp(protoFile, join(folder, "catalog.proto"));
    return await compileProtos(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * The same set with names that only JSON spells: protobuf-es takes a proto name before a json_name, so it cannot read
 * a message whose names are swapped. Canonical JSON has no proto names.
 */
function withoutProtoNames(set: FileDescriptorSet): FileDescriptorSet {
  const renamed = clone(FileDescriptorSetSchema, set);
  const rename = (message: DescriptorProto): void => {
    if (!message.options?.mapEntry) for (const field of message.field) field.name = `field_${field.number}`;
    message.nestedType.forEach(rename);
  };
  for (const file of renamed.file) if (!file.name.startsWith("google/")) file.messageType.forEach(rename);
  return renamed;
}

/** The bytes inside an Any may differ although the messages are equal. */
function holdsAny(message: Message): boolean {
  const text = JSON.stringify(message, (_, value) => (typeof value === "bigint" ? String(value) : value));
  return text.includes('"google.protobuf.Any"');
}
