/** Maps: from wire to the entries that count. */

import { type Field, Type } from "../schema/model.ts";
import { readNumeric, readString } from "./decode-scalar.ts";
import type { Decoding } from "./decoding.ts";
import { isUnknownEnum } from "./enum-name.ts";
import { entrySlotsOf } from "./slot.ts";
import { indexRecords, NO_SPANS, type Spans } from "./wire-index.ts";

/**
 * Keyed by the JSON text of the key: spans of the value, none where its default is meant. The last entry with a key
 * wins; entries whose value is an unknown number of a closed enum are left out.
 */
export function readEntries(
  run: Decoding,
  { key, value }: NonNullable<Field["map"]>,
  spans: Spans,
): ReadonlyMap<string, Spans> {
  const slots = entrySlotsOf({ key, value });
  const entries = new Map<string, Spans>();
  for (let i = 0; i < spans.length; i += 2) {
    const records = indexRecords(run, slots, spans.slice(i, i + 2));
    const valueSpans = records.get(value.number) ?? NO_SPANS;
    if (value.enum && isUnknownEnum(value, Number(readNumeric(run, value, valueSpans)))) {
      run.unknownFields++;
      continue;
    }
    run.enter(key);
    entries.set(readKey(run, key, records.get(key.number) ?? NO_SPANS), valueSpans);
    run.leave();
  }
  return entries;
}

function readKey(run: Decoding, key: Field, spans: Spans): string {
  return key.type === Type.STRING ? readString(run, key, spans) : String(readNumeric(run, key, spans));
}
