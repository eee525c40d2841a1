/** Reads messages, fields and enums of the model from descriptors, each once and only when asked for. */
import type { DescEnum, DescExtension, DescField, DescMessage, Registry, ScalarType } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { groupBy } from "./group-by.ts";
import { LazyMessage, type MessageContent } from "./lazy-message.ts";
import type { Enum, Field, Message, Oneof } from "./model.ts";
import * as Type from "./type.ts";

export interface MessageReader {
  /**
   * The same object for the same descriptor, always. Fields are read when first looked at, so types may be circular; that
   * throws a ConnectError, internal, where the descriptor is wrong.
   */
  read(desc: DescMessage): Message;
}

/** @param registry knows the extensions of the messages; without it they have none. */
export function createMessageReader(registry?: Registry): MessageReader {
  // Weak: a reader may outlive the descriptors that it was asked for.
  const messages = new WeakMap<DescMessage, Message>();
  const enums = new WeakMap<DescEnum, Enum>();
  let extensions: ReadonlyMap<string, readonly DescExtension[]> | undefined;

  function read(desc: DescMessage): Message {
    const known = messages.get(desc);
    if (known) return known;
    const message = new LazyMessage(desc.typeName, () => explained(desc, () => readContent(desc)));
    messages.set(desc, message);
    return message;
  }

  function readContent(desc: DescMessage): MessageContent {
    const oneofs = new Map(desc.oneofs.map((oneof) => [oneof, { name: oneof.name, fields: [] as Field[] }]));
    const fields = desc.fields.map((field) => {
      const oneof = field.oneof && oneofs.get(field.oneof);
      const read = readField(field, oneof);
      oneof?.fields.push(read);
      return read;
    });
    extensions ??= extensionsByMessage(registry);
    fields.push(...(extensions.get(desc.typeName) ?? []).map(readExtension));
    return { fields: fields.sort((a, b) => a.number - b.number), oneofs: [...oneofs.values()] };
  }

  /** Its list has presence: what an unset one is in JSON is not for the message to say (`emitDefaults`). */
  function readExtension(desc: DescExtension): Field {
    return { ...readField(desc, undefined), name: desc.jsonName, presence: true };
  }

  function readField(desc: DescField | DescExtension, oneof: Oneof | undefined): Field {
    const list = desc.fieldKind === "list";
    const map = desc.fieldKind === "map";
    const defaultValue = desc.fieldKind === "scalar" || desc.fieldKind === "enum" ? desc.getDefaultValue() : undefined;
    return {
      name: desc.name,
      jsonName: desc.jsonName,
      number: desc.number,
      type: fieldType(desc),
      repeated: list,
      packed: list && desc.packed,
      presence: !list && !map && desc.presence !== FeatureSet_FieldPresence.IMPLICIT,
      required: desc.presence === FeatureSet_FieldPresence.LEGACY_REQUIRED,
      utf8: desc.utf8Validation,
      ...(oneof && { oneof }),
      ...(desc.message && !map && { message: read(desc.message) }),
      ...(desc.enum && !map && { enum: readEnum(desc.enum) }),
      ...(map && { map: readEntry(desc) }),
      ...(defaultValue !== undefined && { defaultValue }),
    };
  }

  function readEntry(desc: DescField & { fieldKind: "map" }): { key: Field; value: Field } {
    const common = { repeated: false, packed: false, required: false, utf8: desc.utf8Validation } as const;
    return {
      key: { ...common, name: "key", jsonName: "key", number: 1, type: scalarType(desc.mapKey), presence: false },
      value: {
        ...common,
        name: "value",
        jsonName: "value",
        number: 2,
        type: desc.message ? Type.MESSAGE : desc.enum ? Type.ENUM : scalarType(desc.scalar),
        presence: desc.message !== undefined,
        ...(desc.message && { message: read(desc.message) }),
        ...(desc.enum && { enum: readEnum(desc.enum) }),
      },
    };
  }

  function readEnum(desc: DescEnum): Enum {
    let read = enums.get(desc);
    if (!read) {
      read = {
        name: desc.typeName,
        closed: !desc.open,
        values: desc.values.map(({ name, number }) => ({ name, number })),
      };
      enums.set(desc, read);
    }
    return read;
  }

  return { read };
}

/** Descriptors may be wrong where nobody looked before: a default that is no value of its type. */
function explained<T>(desc: DescMessage, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    throw new ConnectError(`the schema's ${desc.typeName} cannot be read: ${reason}`, Code.Internal);
  }
}

/** Keyed by full name of the message that is extended. */
function extensionsByMessage(registry: Registry | undefined): ReadonlyMap<string, readonly DescExtension[]> {
  const extensions = [...(registry ?? [])].filter((desc) => desc.kind === "extension");
  return groupBy(extensions, (extension) => extension.extendee.typeName);
}

function fieldType(desc: DescField | DescExtension): Type.Value {
  if (desc.fieldKind === "map") return Type.MESSAGE;
  if (desc.message) return desc.delimitedEncoding ? Type.GROUP : Type.MESSAGE;
  if (desc.enum) return Type.ENUM;
  return scalarType(desc.scalar);
}

/** protobuf-es numbers scalars as FieldDescriptorProto.Type does; messages, groups and enums are no scalars. */
function scalarType(scalar: ScalarType): Type.Value {
  return scalar satisfies Type.Value;
}
