/** Values from path and query → records of the message. */
import type { Field } from "../schema/model.ts";
import type { Bound } from "./codec.ts";
import type { EncodeJob } from "./encode-job.ts";
import { fieldError } from "./error.ts";
import { OneofClaims } from "./oneof-claims.ts";
import { writeMessageRecord } from "./record.ts";

/**
 * Writes the content of a message that has bound values only.
 *
 * @param depth level of the message. Not recursed into when it is over the limit.
 */
export function writeBoundMessage(job: EncodeJob, bound: Bound, depth: number): void {
  const fault = job.depthFault(depth);
  if (fault) throw fieldError(job.pathText(), fault);
  claimBound(job, new OneofClaims(), bound);
  writeBound(job, bound, depth, new Set());
}

/** Writes the bound values of a message on level `depth`, but those that were written with its body already. */
export function writeBound(job: EncodeJob, bound: Bound, depth: number, written: ReadonlySet<Field>): void {
  for (const [field, value] of bound.fields) {
    if (written.has(field)) continue;
    if (value.kind === "record") {
      job.writer.raw(value.wire);
    } else {
      job.path.push(field);
      writeMessageRecord(job.writer, field, () => writeBoundMessage(job, value.bound, depth + 1));
      job.path.pop();
    }
  }
}

/** Notes the oneof members among the bound values of a message. */
export function claimBound(job: EncodeJob, claims: OneofClaims, bound: Bound): void {
  for (const field of bound.fields.keys()) claimMember(job, claims, field);
}

/** Notes a field that is set from elsewhere than JSON. @throws ConnectError when its oneof has another member. */
export function claimMember(job: EncodeJob, claims: OneofClaims, field: Field): void {
  const fault = claims.claim(field);
  if (fault) throw fieldError(job.pathTo(field.name), fault);
}
