/** Reads messages, fields and enums of the model from descriptors, each once and only when asked for. */
import type { DescEnum, DescField, DescMessage, ScalarType } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { type Enum, type Field, type Message, type Oneof, Type } from "./model.ts";

export interface MessageReader {
  /** The same object for the same descriptor, always. Fields are read when first looked at, so types may be circular. */
  read(desc: DescMessage): Message;
}

export function createMessageReader(): MessageReader {
  // Weak: a reader may outlive the descriptors that it was asked for.
  const messages = new WeakMap<DescMessage, Message>();
  const enums = new WeakMap<DescEnum, Enum>();

  function read(desc: DescMessage): Message {
    const known = messages.get(desc);
    if (known) return known;
    let content: Pick<Message, "fields" | "oneofs"> | undefined;
    const message: Message = {
      name: desc.typeName,
      get fields() {
        content ??= readContent(desc);
        return content.fields;
      },
      get oneofs() {
        content ??= readContent(desc);
        return content.oneofs;
      },
    };
    messages.set(desc, message);
    return message;
  }

  function readContent(desc: DescMessage): Pick<Message, "fields" | "oneofs"> {
    const oneofs = new Map(desc.oneofs.map((oneof) => [oneof, { name: oneof.name, fields: [] as Field[] }]));
    const fields = desc.fields.map((field) => {
      const oneof = field.oneof && oneofs.get(field.oneof);
      const read = readField(field, oneof);
      oneof?.fields.push(read);
      return read;
    });
    return { fields: fields.sort((a, b) => a.number - b.number), oneofs: [...oneofs.values()] };
  }

  function readField(desc: DescField, oneof: Oneof | undefined): Field {
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

function fieldType(desc: DescField): Type {
  if (desc.fieldKind === "map") return Type.MESSAGE;
  if (desc.message) return desc.delimitedEncoding ? Type.GROUP : Type.MESSAGE;
  if (desc.enum) return Type.ENUM;
  return scalarType(desc.scalar);
}

/** protobuf-es numbers scalars as FieldDescriptorProto.Type does; messages, groups and enums are no scalars. */
function scalarType(scalar: ScalarType): Type {
  return scalar satisfies Type;
}
