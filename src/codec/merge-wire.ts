/** Bound values set into a message that is given in wire form. */
import type { Field, Message } from "../schema/model.ts";
import type { Bound } from "./codec.ts";
import { claimBound, claimMember } from "./encode-bound.ts";
import type { EncodeJob } from "./encode-job.ts";
import { equalBytes } from "./equal-bytes.ts";
import { fieldError } from "./error.ts";
import { OneofClaims } from "./oneof-claims.ts";
import { writeMessageRecord } from "./record.ts";
import { readRecords } from "./wire-records.ts";
import { WireWriter } from "./wire-writer.ts";

/**
 * Writes the records of `wire` with the bound values among them. What lies below a bound message field goes into one
 * record, whatever the number of records it came in. A singular value that is bound and stands in the wire too must be the
 * same; the last record counts, and a value in a longer form than it needs is taken for another.
 *
 * @param depth level of the message.
 * @throws ConnectError invalid_argument when the wire is no message, has another value than a bound one, or sets another
 *   member of a bound oneof.
 */
export function mergeWire(job: EncodeJob, wire: Uint8Array, message: Message, bound: Bound, depth: number): void {
  if (bound.fields.size === 0) {
    job.writer.raw(wire);
    return;
  }
  const fault = job.depthFault(depth);
  if (fault) throw fieldError(job.pathText(), fault);
  const claims = new OneofClaims();
  claimBound(job, claims, bound);
  const fields = new Map(message.fields.map((field) => [field.number, field]));
  /** What the wire has of the message fields below which something is bound: records of one message, side by side. */
  const contents = new Map<Field, WireWriter>();
  /** What it has itself of the other fields that are bound. */
  const records = new Map<Field, Uint8Array>();
  for (const record of readRecords(wire)) {
    const field = fields.get(record.number);
    const value = field && bound.fields.get(field);
    if (field) claimMember(job, claims, field);
    if (field === undefined || value === undefined) {
      job.writer.raw(record.bytes);
    } else if (value.kind === "record") {
      records.set(field, record.bytes);
    } else if (record.content) {
      const content = contents.get(field) ?? new WireWriter();
      content.raw(record.content);
      contents.set(field, content);
    }
  }
  for (const [field, value] of bound.fields) {
    const below = field.message;
    if (value.kind === "message" && below) {
      const content = contents.get(field)?.finish() ?? new Uint8Array();
      job.path.push(field);
      writeMessageRecord(job.writer, field, () => mergeWire(job, content, below, value.bound, depth + 1));
      job.path.pop();
    } else if (value.kind === "record") {
      const own = records.get(field);
      if (own && !equalBytes(own, value.wire)) {
        throw fieldError(job.pathTo(field.name), `the body has another value than the ${value.from}`);
      }
      job.writer.raw(value.wire);
    }
  }
}
