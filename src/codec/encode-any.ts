/** google.protobuf.Any: `{"@type": url, …the message…}` → type_url = 1, value = 2. */

import { hashKey } from "../schema/hash-key.ts";
import type { Message } from "../schema/model.ts";
import { specialOf } from "../schema/special.ts";
import type { EncodeJob, Place } from "./encode-job.ts";
import { quote, shorten } from "./error.ts";
import * as WireType from "./wire-type.ts";

/**
 * @param depth level of the Any; the message in it is one deeper.
 * @param encodeMessage writes the content of that message.
 */
export function encodeAny(
  job: EncodeJob,
  depth: number,
  encodeMessage: (job: EncodeJob, message: Message, place: Place) => void,
): void {
  const { reader, writer } = job;
  const kind = reader.peek();
  if (kind !== "object") throw job.wrongKind("an object", kind);
  const start = reader.offset;
  const typeUrl = readTypeUrl(job);
  if (typeUrl === undefined) return;
  const message = job.context.registry.message(typeUrl.slice(typeUrl.lastIndexOf("/") + 1));
  if (message === undefined) throw job.error(`@type: ${quote(typeUrl)} is not a known type`);

  writer.tag(1, WireType.LEN);
  writer.string(typeUrl);
  reader.seek(start);
  const mark = writer.length;
  writer.tag(2, WireType.LEN);
  const content = writer.begin();
  if (specialOf(message)) encodeUnderValue(job, depth, () => encodeMessage(job, message, { depth: depth + 1 }));
  else encodeMessage(job, message, { depth: depth + 1, any: true });
  writer.end(content);
  if (writer.length === content) writer.truncate(mark);
}

/**
 * Finds `@type` wherever it stands in the object that follows; the cursor is anywhere afterwards. The empty object is
 * the empty Any: read through, and undefined.
 */
function readTypeUrl(job: EncodeJob): string | undefined {
  const { reader } = job;
  const start = reader.offset;
  reader.openObject();
  const first = reader.firstKey();
  if (first === undefined) return undefined;
  if (first !== "@type") {
    const found = typeOffset(job, start);
    if (found === undefined) {
      reader.seek(start);
      reader.peek();
      throw job.error("@type is missing");
    }
    reader.seek(found);
  }
  const kind = reader.peek();
  if (kind !== "string") throw job.error(`@type: expected a string, got ${kind}`);
  const typeUrl = reader.readString();
  if (typeUrl === "" || !typeUrl.isWellFormed()) throw job.error(`@type: ${quote(typeUrl)} is not a type URL`);
  return typeUrl;
}

/**
 * Offset of the value of `@type` in the object at `start`. One pass notes those of all objects inside as well, so that
 * an Any in an Any in an Any costs no pass of its own.
 */
function typeOffset(job: EncodeJob, start: number): number | undefined {
  const { reader, anyTypes } = job;
  if (start >= anyTypes.end) {
    anyTypes.offsets.clear();
    reader.seek(start);
    // Every level of messages may have a list or map around it.
    reader.skip(2 * job.context.options.maxDepth, (object, key) => {
      if (key === "@type") anyTypes.offsets.set(object, reader.offset);
    });
    anyTypes.end = reader.offset;
  }
  return anyTypes.offsets.get(start);
}

/** A type with a JSON form of its own stands under the key `value`. */
function encodeUnderValue(job: EncodeJob, depth: number, encodeContent: () => void): void {
  const { reader } = job;
  const seen = new Set<string>();
  reader.openObject();
  for (let key = reader.firstKey(); key !== undefined; key = reader.nextKey()) {
    const known = key === "value" || key === "@type";
    if (!known && !job.ignoresUnknown) throw job.error("no such field beside value", job.pathTo(shorten(key)));
    const identity = hashKey(key);
    if (seen.has(identity)) throw job.error("given more than once", job.pathTo(shorten(key)));
    seen.add(identity);
    if (key === "value") encodeContent();
    else if (known) reader.readString();
    else job.skipUnknown(depth);
  }
  if (!seen.has(hashKey("value"))) throw job.error("value is missing");
}
