/** `isthmus/codec`: the codec for users of @bufbuild/protobuf, ProtoJSON ⇄ wire without message objects. */
import type { DescMessage, Registry as DescRegistry } from "@bufbuild/protobuf";
import type { JsonOptions, Skipped } from "./codec/codec.ts";
import { compileCodec } from "./codec/compile.ts";
import { checkPlainOptions, defined, JSON_DEFAULTS, misconfigured } from "./config.ts";
import { PLAIN_OPTIONS } from "./options.ts";
import { builtinMessage } from "./schema/builtin.ts";
import type { Registry } from "./schema/model.ts";
import { createMessageReader, type MessageReader } from "./schema/read-message.ts";

export type { JsonOptions, Skipped } from "./codec/codec.ts";

export interface CodecOptions extends Partial<JsonOptions> {
  /**
   * Resolves extensions, and the types inside of google.protobuf.Any. Well-known types and google.rpc's error details
   * are always known. Read once, when first used.
   */
  readonly registry?: DescRegistry;
}

export interface MessageCodec {
  /**
   * JSON text in UTF-8 → wire.
   *
   * @param skipped `{ unknownFields: 0 }`: what the call leaves out under `unknownFields: "ignore"` is added to it.
   * @throws ConnectError invalid_argument naming field path, line and column.
   */
  encode(json: Uint8Array, skipped?: Skipped): Uint8Array;
  /**
   * Wire → JSON text in UTF-8.
   *
   * @param skipped the fields that the message does not know, and JSON cannot show, are added to it.
   * @throws ConnectError internal when the bytes are not of the message, or have no JSON form.
   */
  decode(wire: Uint8Array, skipped?: Skipped): Uint8Array;
}

/** Descriptors live as long as their file; what was read of them is shared by all codecs without a registry. */
const messages: MessageReader = createMessageReader();

/** A registry says which extensions messages have, so what was read with it is shared by those that have the same. */
const messagesOf = new WeakMap<DescRegistry, MessageReader>();

const { unknownFields, emitDefaults, useProtoFieldName, enumAsInteger, int64AsNumber, maxDepth, maxJsonBytes } =
  PLAIN_OPTIONS;
const JSON_OPTIONS = {
  unknownFields,
  emitDefaults,
  useProtoFieldName,
  enumAsInteger,
  int64AsNumber,
  maxDepth,
  maxJsonBytes,
} satisfies Record<keyof JsonOptions, unknown>;

/**
 * @param desc descriptor of the message, generated or from a registry.
 * @param options defaults are those of ProtoJSON: unknown fields are errors, zero values omitted, lowerCamelCase names,
 *   enum names, 64-bit integers as strings, 100 levels of nesting, any size of JSON.
 * @throws ConnectError invalid_argument naming the option that is unknown, or not what it may be.
 */
export function createCodec(desc: DescMessage, options: CodecOptions = {}): MessageCodec {
  checkPlainOptions(options, JSON_OPTIONS, ["registry"]);
  const { registry } = options;
  if (registry !== undefined && registry?.kind !== "registry") {
    throw misconfigured("registry: not a registry of @bufbuild/protobuf");
  }
  const messages = readerFor(registry);
  const { encode, decode } = compileCodec(messages.read(desc), {
    registry: readRegistry(registry, messages),
    options: { ...JSON_DEFAULTS, ...defined(options) },
  });
  return { encode, decode };
}

function readerFor(registry: DescRegistry | undefined): MessageReader {
  if (registry === undefined) return messages;
  let reader = messagesOf.get(registry);
  if (reader === undefined) {
    reader = createMessageReader(registry);
    messagesOf.set(registry, reader);
  }
  return reader;
}

function readRegistry(registry: DescRegistry | undefined, messages: MessageReader): Registry {
  return {
    message(fullName) {
      const desc = registry?.getMessage(fullName);
      return desc ? messages.read(desc) : builtinMessage(fullName);
    },
  };
}
