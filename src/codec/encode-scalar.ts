/** One JSON value of a scalar or enum field → its wire value, without tag. */
import type { Enum, Field } from "../schema/model.ts";
import type { EncodeJob } from "./encode-job.ts";
import { isUnknownEnum } from "./enum-name.ts";
import { quote } from "./error.ts";
import { enumNumber, parseEnumNumber, scalarOf, typeName } from "./scalar.ts";

/** Whether JSON's null is a value of the field, and not the lack of one (ProtoJSON, "null values"). */
export function takesNull(field: Field): boolean {
  return field.enum?.name === "google.protobuf.NullValue" || field.message?.name === "google.protobuf.Value";
}

/**
 * Reads the value that follows and writes it, zero or not.
 *
 * @returns false, with nothing written, for an enum value that is unknown and to be ignored.
 */
export function encodeScalar(job: EncodeJob, field: Field): boolean {
  const { reader } = job;
  const kind = reader.peek();
  if (kind === "null" && takesNull(field)) {
    reader.readNull();
    job.writer.varint(0);
    return true;
  }
  if (field.enum && (kind === "string" || kind === "number")) return encodeEnum(job, field, field.enum, kind);
  const scalar = scalarOf(field);
  if (kind !== scalar.json && !(kind === "string" && scalar.json === "number")) {
    throw job.wrongKind(typeName(field), kind);
  }
  const text =
    kind === "string" ? reader.readString() : kind === "number" ? reader.readNumber() : String(reader.readBoolean());
  if (!scalar.write(job.writer, text)) throw job.error(`${quote(text)} is not a value of type ${typeName(field)}`);
  return true;
}

/** A string is a name, a number may be that of no value: in an open enum it counts, in a closed one it is unknown. */
function encodeEnum(job: EncodeJob, field: Field, enumeration: Enum, kind: "string" | "number"): boolean {
  const { reader } = job;
  const text = kind === "string" ? reader.readString() : reader.readNumber();
  const number = kind === "string" ? enumNumber(enumeration, text) : parseEnumNumber(text);
  if (number !== undefined && !isUnknownEnum(field, number)) {
    job.writer.varint64(BigInt(number));
    return true;
  }
  const isUnknown = kind === "string" || number !== undefined;
  if (isUnknown && job.ignoresUnknown) {
    job.unknownFields++;
    return false;
  }
  throw job.error(`${quote(text)} is not a value of ${enumeration.name}`);
}
