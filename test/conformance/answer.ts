/** One request of the conformance suite, done by our codec: ConformanceRequest → ConformanceResponse. */
import {
  createFileRegistry,
  type DescMessage,
  type FileRegistry,
  fromBinary,
  fromJson,
  type JsonObject,
  type Message,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { ConnectError } from "@connectrpc/connect";
import type { Codec, CodecContext } from "../../src/codec/codec.ts";
import { compileCodec } from "../../src/codec/compile.ts";
import { readSchema } from "../../src/schema/read.ts";

/** conformance.ConformanceRequest in JSON; zero values are absent. */
interface Request {
  readonly messageType: string;
  readonly protobufPayload?: string;
  readonly jsonPayload?: string;
  readonly requestedOutputFormat?: string;
  readonly testCategory?: string;
}

/** Fields of conformance.ConformanceResponse, which are one oneof. Bytes are base64. */
type Response = Readonly<
  Partial<
    Record<"parseError" | "serializeError" | "runtimeError" | "skipped" | "protobufPayload" | "jsonPayload", string>
  >
>;

/** @param set the FileDescriptorSet with conformance.proto and the messages of the suite. */
export function createTestee(set: Uint8Array): (request: Uint8Array) => Uint8Array {
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, set));
  const schema = readSchema(set);
  const requestType = messageType(registry, "conformance.ConformanceRequest");
  const responseType = messageType(registry, "conformance.ConformanceResponse");

  function contextOf(unknownFields: "error" | "ignore"): CodecContext {
    const names = { emitDefaults: false, useProtoFieldName: false, enumAsInteger: false, int64AsNumber: false };
    return { registry: schema, options: { unknownFields, ...names, maxDepth: 100 } };
  }
  const strict = contextOf("error");
  const lenient = contextOf("ignore");

  function answer(request: Request): Response {
    // The runner asks first for the names of tests that it shall expect to fail; those stand in known-failing.txt.
    if (request.messageType === "conformance.FailureSet") return { protobufPayload: "" };
    const message = schema.message(request.messageType);
    if (message === undefined) return { runtimeError: `no message ${request.messageType}` };
    const ignores = request.testCategory === "JSON_IGNORE_UNKNOWN_PARSING_TEST";
    const codec = compileCodec(message, ignores ? lenient : strict);
    return convert(request, codec, messageType(registry, request.messageType), registry);
  }

  return (bytes) => {
    const request = toJson(requestType, fromBinary(requestType, bytes)) as unknown as Request;
    return toBinary(responseType, fromJson(responseType, run(() => answer(request)) as JsonObject));
  };
}

/** Any error but ConnectError is a fault of the codec, which the runner counts as failure. */
function run(answer: () => Response): Response {
  try {
    return answer();
  } catch (error) {
    return { runtimeError: error instanceof Error ? `${error.stack}` : String(error) };
  }
}

function convert(request: Request, codec: Codec, desc: DescMessage, registry: FileRegistry): Response {
  const { protobufPayload: wire, jsonPayload: json, requestedOutputFormat: output } = request;
  if (output !== "PROTOBUF" && output !== "JSON") return { skipped: `no format ${output}` };
  if (json !== undefined) {
    const encoded = outcome(() => codec.encode(new TextEncoder().encode(json)));
    if ("error" in encoded) return { parseError: encoded.error };
    return output === "PROTOBUF" ? { protobufPayload: base64(encoded.value) } : decodeInto(codec, encoded.value);
  }
  if (wire === undefined) return { skipped: "neither JSON nor wire" };
  return fromWire(Buffer.from(wire, "base64"), output, codec, desc, registry);
}

/**
 * Wire → JSON is one step of the codec, but the suite tells bytes that are no message from a message that has no JSON.
 * The codec does not, so protobuf-es says which of the two a refusal is; it has no say in what is refused.
 */
function fromWire(
  wire: Uint8Array,
  output: "PROTOBUF" | "JSON",
  codec: Codec,
  desc: DescMessage,
  registry: FileRegistry,
): Response {
  const message = parse(desc, wire);
  const decoded = decodeInto(codec, wire);
  if (decoded.jsonPayload === undefined) {
    if (message === undefined) return { parseError: decoded.serializeError ?? "" };
    return output === "JSON" ? decoded : { skipped: "a message that JSON cannot hold" };
  }
  if (output === "JSON") return decoded;
  // Wire → wire is two steps, with JSON between them.
  if (message && hasUnknown(message, desc, registry)) return { skipped: "unknown fields, which JSON cannot hold" };
  const json = new TextEncoder().encode(decoded.jsonPayload);
  const encoded = outcome(() => codec.encode(json));
  return "error" in encoded ? { serializeError: encoded.error } : { protobufPayload: base64(encoded.value) };
}

function decodeInto(codec: Codec, wire: Uint8Array): Response {
  const decoded = outcome(() => codec.decode(wire));
  return "error" in decoded
    ? { serializeError: decoded.error }
    : { jsonPayload: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(decoded.value) };
}

function outcome(convert: () => Uint8Array): { value: Uint8Array } | { error: string } {
  try {
    return { value: convert() };
  } catch (error) {
    if (error instanceof ConnectError) return { error: error.message };
    throw error;
  }
}

function parse(desc: DescMessage, wire: Uint8Array): Message | undefined {
  try {
    return fromBinary(desc, wire);
  } catch {
    return undefined;
  }
}

/** Whether the message, or one in it, has a field that neither it nor an extension defines. */
function hasUnknown(message: Message, desc: DescMessage, registry: FileRegistry): boolean {
  if (message.$unknown?.some(({ no }) => registry.getExtensionFor(desc, no) === undefined)) return true;
  const content = reflect(desc, message);
  return desc.fields.some((field) => {
    if (!field.message || !content.isSet(field)) return false;
    const type = field.message;
    const isUnknown = (item: unknown) => hasUnknown((item as { message: Message }).message, type, registry);
    if (field.fieldKind === "list") return [...content.get(field)].some(isUnknown);
    if (field.fieldKind === "map") return [...content.get(field).values()].some(isUnknown);
    return isUnknown(content.get(field));
  });
}

function messageType(registry: FileRegistry, name: string): DescMessage {
  const desc = registry.getMessage(name);
  if (!desc) throw new Error(`no message ${name}`);
  return desc;
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}
