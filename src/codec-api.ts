/** `isthmus/codec`: the codec for users of @bufbuild/protobuf, ProtoJSON ⇄ wire without message objects. */
import type { DescMessage, Registry as DescRegistry } from "@bufbuild/protobuf";
import type { JsonOptions } from "./codec/codec.ts";
import { compileCodec } from "./codec/compile.ts";
import { builtinMessage } from "./schema/builtin.ts";
import type { Registry } from "./schema/model.ts";
import { createMessageReader, type MessageReader } from "./schema/read-message.ts";

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
   * @throws ConnectError invalid_argument naming field path, line and column.
   */
  encode(json: Uint8Array): Uint8Array;
  /**
   * Wire → JSON text in UTF-8.
   *
   * @throws ConnectError internal when the bytes are not of the message, or have no JSON form.
   */
  decode(wire: Uint8Array): Uint8Array;
}

/** Descriptors live as long as their file; what was read of them is shared by all codecs without a registry. */
const messages: MessageReader = createMessageReader();

/** A registry says which extensions messages have, so what was read with it is shared by those that have the same. */
const messagesOf = new WeakMap<DescRegistry, MessageReader>();

/**
 * @param desc descriptor of the message, generated or from a registry.
 * @param options defaults are those of ProtoJSON: unknown fields are errors, zero values omitted, lowerCamelCase names,
 *   enum names, 100 levels of nesting.
 */
export function createCodec(desc: DescMessage, options: CodecOptions = {}): MessageCodec {
  const { registry, ...json } = options;
  const messages = readerFor(registry);
  const { encode, decode } = compileCodec(messages.read(desc), {
    registry: readRegistry(registry, messages),
    options: {
      unknownFields: "error",
      emitDefaults: false,
      useProtoFieldName: false,
      enumAsInteger: false,
      int64AsNumber: false,
      maxDepth: 100,
      ...json,
    },
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
