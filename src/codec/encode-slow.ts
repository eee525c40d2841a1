/**
 * The slow encoder: everything that ProtoJSON allows, and what is wrong with the rest. It is the measure of the fast one
 * (`fast-encode.ts`), and does what that one gives up.
 */
import type { Field, Message } from "../schema/model.ts";
import type { Bound, CodecContext, EncodedRequest, EncodeRequest, Skipped } from "./codec.ts";
import { claimBound, writeBound, writeBoundMessage } from "./encode-bound.ts";
import { EncodeJob } from "./encode-job.ts";
import { encodeField, encodeMessage } from "./encode-message.ts";
import type { FastParts } from "./fast-encode.ts";
import { mergeWire } from "./merge-wire.ts";
import { OneofClaims } from "./oneof-claims.ts";

/** @param parts does what it can of the objects inside. Default: nothing. */
export function encodeSlow(
  message: Message,
  context: CodecContext,
  json: Uint8Array,
  skipped?: Skipped,
  parts?: FastParts,
): Uint8Array {
  const job = new EncodeJob(context, json, parts);
  encodeMessage(job, message, { depth: 1 });
  job.reader.end();
  addSkipped(job, skipped);
  return job.writer.finish();
}

/** @param parts as in `encodeSlow`. */
export function encodeRequestSlow(
  message: Message,
  context: CodecContext,
  request: EncodeRequest,
  skipped?: Skipped,
  parts?: FastParts,
): EncodedRequest {
  const { json, body, above, bodyWire, bound, mask } = request;
  const job = new EncodeJob(context, json ?? new Uint8Array(), parts);
  if (bodyWire) {
    mergeWire(job, bodyWire, message, bound, 1);
  } else if (body === undefined || json === undefined || json.length === 0) {
    writeBoundMessage(job, bound, 1);
  } else {
    const prefix = mask ? "" : undefined;
    if (above && body !== "*") encodeDeepField(job, body, above, prefix);
    else if (body === "*") encodeMessage(job, message, { depth: 1, bound: someOf(bound), mask: prefix });
    else encodeBodyField(job, body, bound, prefix);
    job.reader.end();
  }
  addSkipped(job, skipped);
  return mask ? { wire: job.writer.finish(), mask: job.mask } : { wire: job.writer.finish() };
}

/** The JSON is the value of one field; leaf paths begin below that field. */
function encodeBodyField(job: EncodeJob, field: Field, bound: Bound, mask: string | undefined): void {
  const claims = new OneofClaims();
  claimBound(job, claims, bound);
  const written = encodeField(job, field, { depth: 1, bound }, claims, mask);
  writeBound(job, bound, 1, new Set(written ? [field] : []));
}

function addSkipped(job: EncodeJob, skipped: Skipped | undefined): void {
  if (skipped) skipped.unknownFields += job.unknownFields;
}

/** The records of a field below others; leaf paths begin above them. */
function encodeDeepField(job: EncodeJob, field: Field, above: readonly Field[], mask: string | undefined): void {
  job.path.push(...above);
  const leaf = mask === undefined ? undefined : job.pathTo(field.name);
  encodeField(job, field, { depth: above.length + 1 }, new OneofClaims(), leaf);
}

function someOf(bound: Bound): Bound | undefined {
  return bound.fields.size > 0 ? bound : undefined;
}
