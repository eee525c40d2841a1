/**
 * Messages that every schema knows, whether or not its set holds them: the well-known types that may stand in a
 * google.protobuf.Any, and google.rpc's error details.
 */
import type { Enum, Field, Message, Oneof } from "./model.ts";
import * as Type from "./type.ts";

/** The built-in message with this full name, or undefined. */
export function builtinMessage(fullName: string): Message | undefined {
  messages ??= buildMessages();
  return messages.get(fullName);
}

/** Built when first asked for: most isolates never do. */
let messages: ReadonlyMap<string, Message> | undefined;

const SCALARS: ReadonlyMap<string, Type.Value> = new Map<string, Type.Value>([
  ["double", Type.DOUBLE],
  ["float", Type.FLOAT],
  ["int64", Type.INT64],
  ["uint64", Type.UINT64],
  ["int32", Type.INT32],
  ["uint32", Type.UINT32],
  ["bool", Type.BOOL],
  ["string", Type.STRING],
  ["bytes", Type.BYTES],
]);

const NULL_VALUE: Enum = {
  name: "google.protobuf.NullValue",
  closed: false,
  values: [{ name: "NULL_VALUE", number: 0 }],
};

/**
 * Package → name → fields in order of their numbers, which count from 1: `[label] type name`. The label is `repeated`,
 * `optional`, `kind` (member of the oneof of that name) or `map` (from string). Types of the same package are named without it.
 */
const DEFINITIONS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  "google.protobuf": {
    Any: ["string type_url", "bytes value"],
    Duration: ["int64 seconds", "int32 nanos"],
    Timestamp: ["int64 seconds", "int32 nanos"],
    Empty: [],
    FieldMask: ["repeated string paths"],
    Struct: ["map Value fields"],
    Value: [
      "kind NullValue null_value",
      "kind double number_value",
      "kind string string_value",
      "kind bool bool_value",
      "kind Struct struct_value",
      "kind ListValue list_value",
    ],
    ListValue: ["repeated Value values"],
    DoubleValue: ["double value"],
    FloatValue: ["float value"],
    Int64Value: ["int64 value"],
    UInt64Value: ["uint64 value"],
    Int32Value: ["int32 value"],
    UInt32Value: ["uint32 value"],
    BoolValue: ["bool value"],
    StringValue: ["string value"],
    BytesValue: ["bytes value"],
  },
  "google.rpc": {
    Status: ["int32 code", "string message", "repeated google.protobuf.Any details"],
    ErrorInfo: ["string reason", "string domain", "map string metadata"],
    RetryInfo: ["google.protobuf.Duration retry_delay"],
    DebugInfo: ["repeated string stack_entries", "string detail"],
    QuotaFailure: ["repeated QuotaFailure.Violation violations"],
    "QuotaFailure.Violation": [
      "string subject",
      "string description",
      "string api_service",
      "string quota_metric",
      "string quota_id",
      "map string quota_dimensions",
      "int64 quota_value",
      "optional int64 future_quota_value",
    ],
    PreconditionFailure: ["repeated PreconditionFailure.Violation violations"],
    "PreconditionFailure.Violation": ["string type", "string subject", "string description"],
    BadRequest: ["repeated BadRequest.FieldViolation field_violations"],
    "BadRequest.FieldViolation": [
      "string field",
      "string description",
      "string reason",
      "LocalizedMessage localized_message",
    ],
    RequestInfo: ["string request_id", "string serving_data"],
    ResourceInfo: ["string resource_type", "string resource_name", "string owner", "string description"],
    Help: ["repeated Help.Link links"],
    "Help.Link": ["string description", "string url"],
    LocalizedMessage: ["string locale", "string message"],
  },
};

function buildMessages(): ReadonlyMap<string, Message> {
  const all = Object.entries(DEFINITIONS).flatMap(([scope, messages]) =>
    Object.entries(messages).map(([name, definitions]) => ({ scope, name: `${scope}.${name}`, definitions })),
  );
  const building = new Map(all.map(({ name }) => [name, { name, fields: [] as Field[], oneofs: [] as Oneof[] }]));
  for (const { scope, name, definitions } of all) {
    const kind = { name: "kind", fields: [] as Field[] };
    const typeOf = (type: string) => parseType(building.get(type) ?? building.get(`${scope}.${type}`), type);
    const fields = definitions.map((definition, i) => parseField(definition, i + 1, typeOf, kind));
    kind.fields.push(...fields.filter((field) => field.oneof));
    const message = building.get(name);
    message?.fields.push(...fields);
    if (kind.fields.length > 0) message?.oneofs.push(kind);
  }
  return building;
}

type FieldType = Pick<Field, "type" | "message" | "enum">;

function parseField(definition: string, number: number, typeOf: (name: string) => FieldType, kind: Oneof): Field {
  const words = definition.split(" ");
  const [typeName = "", name = ""] = words.slice(-2);
  const label = words.length === 3 ? words[0] : undefined;
  const value = typeOf(typeName);
  const common = { name, jsonName: lowerCamel(name), number, packed: false, required: false, utf8: true } as const;
  if (label === "map") {
    const entry = { ...common, repeated: false };
    const key: Field = { ...entry, name: "key", jsonName: "key", number: 1, type: Type.STRING, presence: false };
    const presence = value.message !== undefined;
    const mapped: Field = { ...entry, name: "value", jsonName: "value", number: 2, presence, ...value };
    return { ...common, type: Type.MESSAGE, repeated: false, presence: false, map: { key, value: mapped } };
  }
  const repeated = label === "repeated";
  const presence = label === "optional" || label === "kind" || (value.message !== undefined && !repeated);
  return { ...common, repeated, presence, ...(label === "kind" && { oneof: kind }), ...value };
}

/** What is no scalar and no message is the one enum that there is. */
function parseType(message: Message | undefined, name: string): FieldType {
  const scalar = SCALARS.get(name);
  if (scalar) return { type: scalar };
  return message ? { type: Type.MESSAGE, message } : { type: Type.ENUM, enum: NULL_VALUE };
}

function lowerCamel(name: string): string {
  return name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}
