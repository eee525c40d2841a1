/**
 * Messages that every schema knows, whether or not its set holds them: the well-known types that may stand in a
 * google.protobuf.Any, and google.rpc's error details.
 */
import { type Enum, type Field, type Message, type Oneof, Type } from "./model.ts";

/** The built-in message with this full name, or undefined. */
export function builtinMessage(fullName: string): Message | undefined {
  messages ??= buildMessages();
  return messages.get(fullName);
}

/** Built when first asked for: most isolates never do. */
let messages: ReadonlyMap<string, Message> | undefined;

const SCALARS: ReadonlyMap<string, Type> = new Map<string, Type>([
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
 * Full name → fields in order of their numbers, which count from 1: `[label] type name`. The label is `repeated`,
 * `optional`, `kind` (member of the oneof of that name) or `map` (from string).
 */
const DEFINITIONS: Readonly<Record<string, readonly string[]>> = {
  "google.protobuf.Any": ["string type_url", "bytes value"],
  "google.protobuf.Duration": ["int64 seconds", "int32 nanos"],
  "google.protobuf.Timestamp": ["int64 seconds", "int32 nanos"],
  "google.protobuf.Empty": [],
  "google.protobuf.FieldMask": ["repeated string paths"],
  "google.protobuf.Struct": ["map google.protobuf.Value fields"],
  "google.protobuf.Value": [
    "kind google.protobuf.NullValue null_value",
    "kind double number_value",
    "kind string string_value",
    "kind bool bool_value",
    "kind google.protobuf.Struct struct_value",
    "kind google.protobuf.ListValue list_value",
  ],
  "google.protobuf.ListValue": ["repeated google.protobuf.Value values"],
  "google.protobuf.DoubleValue": ["double value"],
  "google.protobuf.FloatValue": ["float value"],
  "google.protobuf.Int64Value": ["int64 value"],
  "google.protobuf.UInt64Value": ["uint64 value"],
  "google.protobuf.Int32Value": ["int32 value"],
  "google.protobuf.UInt32Value": ["uint32 value"],
  "google.protobuf.BoolValue": ["bool value"],
  "google.protobuf.StringValue": ["string value"],
  "google.protobuf.BytesValue": ["bytes value"],
  "google.rpc.Status": ["int32 code", "string message", "repeated google.protobuf.Any details"],
  "google.rpc.ErrorInfo": ["string reason", "string domain", "map string metadata"],
  "google.rpc.RetryInfo": ["google.protobuf.Duration retry_delay"],
  "google.rpc.DebugInfo": ["repeated string stack_entries", "string detail"],
  "google.rpc.QuotaFailure": ["repeated google.rpc.QuotaFailure.Violation violations"],
  "google.rpc.QuotaFailure.Violation": [
    "string subject",
    "string description",
    "string api_service",
    "string quota_metric",
    "string quota_id",
    "map string quota_dimensions",
    "int64 quota_value",
    "optional int64 future_quota_value",
  ],
  "google.rpc.PreconditionFailure": ["repeated google.rpc.PreconditionFailure.Violation violations"],
  "google.rpc.PreconditionFailure.Violation": ["string type", "string subject", "string description"],
  "google.rpc.BadRequest": ["repeated google.rpc.BadRequest.FieldViolation field_violations"],
  "google.rpc.BadRequest.FieldViolation": [
    "string field",
    "string description",
    "string reason",
    "google.rpc.LocalizedMessage localized_message",
  ],
  "google.rpc.RequestInfo": ["string request_id", "string serving_data"],
  "google.rpc.ResourceInfo": ["string resource_type", "string resource_name", "string owner", "string description"],
  "google.rpc.Help": ["repeated google.rpc.Help.Link links"],
  "google.rpc.Help.Link": ["string description", "string url"],
  "google.rpc.LocalizedMessage": ["string locale", "string message"],
};

function buildMessages(): ReadonlyMap<string, Message> {
  const building = new Map<string, { name: string; fields: Field[]; oneofs: Oneof[] }>();
  for (const name of Object.keys(DEFINITIONS)) building.set(name, { name, fields: [], oneofs: [] });
  for (const [name, definitions] of Object.entries(DEFINITIONS)) {
    const kind = { name: "kind", fields: [] as Field[] };
    const fields = definitions.map((definition, i) => parseField(definition, i + 1, building, kind));
    kind.fields.push(...fields.filter((field) => field.oneof));
    const message = building.get(name);
    message?.fields.push(...fields);
    if (kind.fields.length > 0) message?.oneofs.push(kind);
  }
  return building;
}

function parseField(definition: string, number: number, messages: ReadonlyMap<string, Message>, kind: Oneof): Field {
  const words = definition.split(" ");
  const [typeName = "", name = ""] = words.slice(-2);
  const label = words.length === 3 ? words[0] : undefined;
  const value = parseType(typeName, messages);
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

function parseType(typeName: string, messages: ReadonlyMap<string, Message>): Pick<Field, "type" | "message" | "enum"> {
  const scalar = SCALARS.get(typeName);
  if (scalar) return { type: scalar };
  const message = messages.get(typeName);
  return message ? { type: Type.MESSAGE, message } : { type: Type.ENUM, enum: NULL_VALUE };
}

function lowerCamel(name: string): string {
  return name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}
