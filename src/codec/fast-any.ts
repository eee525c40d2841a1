/** google.protobuf.Any: `{"@type": url, …the message…}` → type_url = 1, value = 2. */

import type { Field, Message } from "../schema/model.ts";
import { CLOSE_BRACE, COMMA, OPEN_BRACE } from "./ascii.ts";
import { endLength, IRREGULAR, io, reserve, skipSpace } from "./fast-io.ts";
import { endOfName, skipColon } from "./fast-name.ts";
import { asciiText } from "./fast-number.ts";
import { FieldPlan } from "./fast-plan.ts";
import { writeString } from "./fast-text.ts";
import { endOfType, findType, isTypeKey } from "./fast-type.ts";
import * as Kind from "./kind.ts";

const TYPE_URL = (1 << 3) | 2;
const VALUE = (2 << 3) | 2;
/** `"val` and `lue"` as words of four bytes. */
const KEY_HEAD = 0x6c61_7622;
const KEY_TAIL = 0x2265_756c;
const KEY_LENGTH = 7;

/**
 * Writes the content of a message.
 *
 * @param start of its JSON. @param depth its level.
 * @param type where its `@type` stands, when its own object has one.
 * @returns where the JSON ends.
 */
type WriteContent = (field: FieldPlan, start: number, depth: number, bound: undefined, type?: number) => number;

/** @param any its message. @param depth level of the Any; the message in it is one deeper. @returns where it ends. */
export function writeAny(any: Message, start: number, depth: number, write: WriteContent): number {
  const { src } = io;
  if (src[start] !== OPEN_BRACE) throw IRREGULAR;
  const first = skipSpace(start + 1);
  if (src[first] === CLOSE_BRACE) return first + 1;
  if (depth >= io.maxDepth) throw IRREGULAR;
  const type = findType(start, first);
  const field = heldBy(type, any);
  reserve(0);
  io.out[io.at++] = TYPE_URL;
  writeString(type);
  reserve(0);
  const record = io.at;
  io.out[io.at++] = VALUE;
  const content = ++io.at;
  const end =
    field.kind === Kind.MESSAGE
      ? write(field, start, depth + 1, undefined, type)
      : writeUnderValue(field, first, depth + 1, type, write);
  if (io.at === content) io.at = record;
  else endLength(content, 1);
  return end;
}

/** A type with a JSON form of its own stands under the key `value`. */
function writeUnderValue(field: FieldPlan, first: number, depth: number, type: number, write: WriteContent): number {
  const { src } = io;
  let isWritten = false;
  for (let p = first; ; p = skipSpace(p)) {
    if (isTypeKey(p)) p = endOfType(p, type);
    else if (isValueKey(p) && !isWritten) {
      p = write(field, skipColon(p + KEY_LENGTH), depth, undefined);
      isWritten = true;
    } else throw IRREGULAR;
    p = skipSpace(p);
    const byte = src[p++];
    if (byte === COMMA) continue;
    if (byte !== CLOSE_BRACE || !isWritten) throw IRREGULAR;
    return p;
  }
}

function isValueKey(p: number): boolean {
  const { srcView } = io;
  return srcView.getInt32(p, true) === KEY_HEAD && srcView.getInt32(p + 3, true) === KEY_TAIL;
}

const plans = new WeakMap<Message, FieldPlan>();

/** @param type where the type URL stands. */
function heldBy(type: number, any: Message): FieldPlan {
  const end = endOfName(type);
  const url = asciiText(type + 1, end - 1);
  const message = io.registry?.message(url.slice(url.lastIndexOf("/") + 1));
  if (message === undefined) throw IRREGULAR;
  let plan = plans.get(message);
  if (plan === undefined) {
    plan = FieldPlan.inAny(message, any.fields[1] as Field);
    plans.set(message, plan);
  }
  return plan;
}
