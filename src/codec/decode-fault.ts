/**
 * What is wrong with wire, told by the careful decoder from the one record in which the printer found it: all that lies
 * beside it is stepped over. Large messages are told to be wrong at the cost of a look at their records.
 */
import type { Field, Message } from "../schema/model.ts";
import { specialOf } from "../schema/special.ts";
import { writeField, writeMessage } from "./decode.ts";
import { isText, writeText } from "./decode-scalar.ts";
import type { Decoding } from "./decoding.ts";
import { fieldOf } from "./print-message.ts";
import type { Plan, PlanField, Shape } from "./print-plan.ts";
import { IRREGULAR, readTag, skip, skipContent, tape, WRONG } from "./print-tape.ts";
import { slotsOf } from "./slot.ts";
import * as WireType from "./wire-type.ts";

interface Place {
  readonly field: PlanField;
  /** Of the content of the record. */
  readonly start: number;
  readonly end: number;
  /** How many records of the field come before. */
  readonly before: number;
  /** How many come behind, those of other members of its oneof included. */
  readonly behind: number;
}

/**
 * Of the wire that is loaded in the printer, at the offset that it found wrong.
 *
 * @param only looks at no other field of the message.
 * @throws ConnectError where the fault is one whatever else the message holds; else there is nothing to say.
 */
export function explainFault(run: Decoding, message: Message, shape: Shape, only?: Field): void {
  explain(run, message, shape, 0, run.wire.length, only);
}

function explain(run: Decoding, message: Message, shape: Shape, start: number, end: number, only?: Field): void {
  if (specialOf(message)) {
    writeMessage(run, message, [start, end]);
    return;
  }
  run.descend();
  const place = placeOf(shape.plan, start, end, run.levelsLeft);
  const field = place && slotsOf(message).get(place.field.number)?.field;
  if (place === undefined || field === undefined || (only !== undefined && field !== only)) return;
  const span = [place.start, place.end] as const;
  run.enter(field);
  if (field.repeated && field.message) {
    run.enter(place.before);
    explain(run, field.message, place.field.shape, ...span);
  } else if (field.repeated && isText(field)) {
    run.enter(place.before);
    writeText(run, field, ...span);
  } else if (field.repeated) {
    writeField(run, field, span);
  } else if (place.behind > 0) {
    // It may have been replaced.
  } else if (!field.message || field.map) {
    writeField(run, field, span);
  } else if (place.before === 0) {
    // A message in several records may be right as a whole.
    explain(run, field.message, place.field.shape, ...span);
  }
}

/** The record in which the fault is. @returns undefined for one of no field, and where the records are not what is right. */
function placeOf(plan: Plan, start: number, end: number, levels: number): Place | undefined {
  const { wrongAt } = tape;
  tape.levels = levels;
  try {
    tape.at = start;
    let found: { readonly field: PlanField; readonly start: number; readonly end: number } | undefined;
    let [before, behind] = [0, 0];
    while (tape.at < end) {
      const tag = readTag();
      const field = fieldOf(plan, tag);
      const isGroup = (tag & 7) === WireType.SGROUP;
      const content = field === undefined || isGroup ? tape.at : skipContent(tag, end);
      if (field === undefined || isGroup) skip(tag);
      if (found !== undefined) {
        if (field === found.field || (field !== undefined && (field.oneof & found.field.oneof) !== 0)) behind++;
      } else if (tape.at >= wrongAt) {
        if (field === undefined || isGroup) return undefined;
        found = { field, start: content, end: tape.at };
        before = countBefore(plan, field, start, content);
        tape.at = found.end;
      }
    }
    return tape.at === end && found ? { ...found, before, behind } : undefined;
  } catch (error) {
    if (error !== IRREGULAR && error !== WRONG) throw error;
    return undefined;
  }
}

/** Records of the field from `start` on whose content begins before `end`. */
function countBefore(plan: Plan, field: PlanField, start: number, end: number): number {
  tape.at = start;
  for (let count = 0; ; ) {
    const tag = readTag();
    const isOne = fieldOf(plan, tag) === field && (tag & 7) !== WireType.SGROUP;
    if (isOne && skipContent(tag, tape.wire.length) === end) return count;
    if (isOne) count++;
    else skip(tag);
  }
}
