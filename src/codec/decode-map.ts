/** Maps: from wire to the entries that count. */

import { hashKey } from "../schema/hash-key.ts";
import type { Field } from "../schema/model.ts";
import * as Type from "../schema/type.ts";
import { readNumeric, readString } from "./decode-scalar.ts";
import type { Decoding } from "./decoding.ts";
import { isUnknownEnum } from "./enum-name.ts";
import { entrySlotsOf, type Slot } from "./slot.ts";
import { isOf, NO_SPANS, type Spans } from "./wire-index.ts";

/**
 * The JSON text of each key, and spans of its value: none where its default is meant. The last entry with a key wins; entries whose value is an unknown number of a closed enum are left out.
 */
export function readEntries(
  run: Decoding,
  { key, value }: NonNullable<Field["map"]>,
  spans: Spans,
): readonly (readonly [key: string, value: Spans])[] {
  const slots = entrySlotsOf({ key, value });
  const [keySlot, valueSlot] = [slots.get(key.number) as Slot, slots.get(value.number) as Slot];
  const entries = new Map<string, readonly [string, Spans]>();
  for (let i = 0; i < spans.length; i += 2) {
    let keySpans = NO_SPANS;
    let valueSpans: number[] | undefined;
    run.reader.seek(spans[i] as number, spans[i + 1] as number);
    while (!run.reader.done) {
      const tag = run.reader.tag();
      run.reader.skip(tag, run.levelsLeft);
      const { contentStart, contentEnd } = run.reader;
      if (isOf(keySlot, tag)) keySpans = [contentStart, contentEnd];
      else if (!isOf(valueSlot, tag)) run.unknownFields++;
      else if (valueSlot.accumulates && valueSpans) valueSpans.push(contentStart, contentEnd);
      else valueSpans = [contentStart, contentEnd];
    }
    if (value.enum && isUnknownEnum(value, Number(readNumeric(run, value, valueSpans ?? NO_SPANS)))) {
      run.unknownFields++;
      continue;
    }
    run.enter(key);
    const text = readKey(run, key, keySpans);
    entries.set(hashKey(text), [text, valueSpans ?? NO_SPANS]);
    run.leave();
  }
  return [...entries.values()];
}

function readKey(run: Decoding, key: Field, spans: Spans): string {
  return key.type === Type.STRING ? readString(run, key, spans) : String(readNumeric(run, key, spans));
}
