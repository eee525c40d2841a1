/** A schema as plain data, whole: two schemas mean the same when these are equal. */
import type { Enum, Field, Message, Oneof, Schema } from "../../src/schema/model.ts";

export function plainSchema(schema: Schema): unknown {
  const enums = new Map<string, Enum>();
  const messages = [...schema.messages()].map((message) => plainMessage(message, enums));
  return {
    services: schema.services.map(({ methods, ...service }) => ({
      ...service,
      methods: methods.map(({ service, input, output, ...method }) => ({
        ...method,
        service: service.name,
        input: input.name,
        output: output.name,
      })),
    })),
    named: [...schema.named],
    messages: messages.sort((a, b) => (a.name < b.name ? -1 : 1)),
    enums: [...enums.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

function plainMessage({ name, fields, oneofs }: Message, enums: Map<string, Enum>) {
  return {
    name,
    fields: fields.map((field) => plainField(field, enums, oneofs)),
    oneofs: oneofs.map((oneof) => [oneof.name, oneof.fields.map((field) => fields.indexOf(field))]),
  };
}

function plainField(field: Field, enums: Map<string, Enum>, oneofs: readonly Oneof[]): Record<string, unknown> {
  const { message, enum: type, map, oneof, ...rest } = field;
  if (type) enums.set(type.name, type);
  return {
    ...rest,
    ...(oneof && { oneof: oneofs.indexOf(oneof) }),
    ...(message && { message: message.name }),
    ...(type && { enum: type.name }),
    ...(map && { map: [plainField(map.key, enums, oneofs), plainField(map.value, enums, oneofs)] }),
  };
}
