/** What regular.ts notes of wire: stacks of numbers, no objects. */
import type { EnumNames } from "./print-plan.ts";
import { readInt32, tape } from "./print-tape.ts";

const FIRST_PLACE = 3;
const FIRST_SIZE = 1 << 8;
/** More are not kept. */
const KEPT = 1 << 16;

/** What is noted of something, in places one behind the other. Place 0 is none. */
export class Notes {
  values = new Int32Array(FIRST_SIZE);
  top = FIRST_PLACE;

  /** @returns its first place. */
  push(a: number, b: number, c: number): number {
    const place = this.top;
    if (place + 3 > this.values.length) {
      const grown = new Int32Array(this.values.length * 2);
      grown.set(this.values);
      this.values = grown;
    }
    this.values[place] = a;
    this.values[place + 1] = b;
    this.values[place + 2] = c;
    this.top = place + 3;
    return place;
  }
}

/** Of records: start and end of the content, and the next of the same message or list. */
export const records = new Notes();
/** Of fields that were met: index, first record, last record; without records where another member of the oneof came. */
export const met = new Notes();
/** Of entries of a map: start and end of the key, and the first record of the value. */
export const entries = new Notes();

/** Lets go of what one large message made grow. */
export function forgetNotes(): void {
  for (const notes of [records, met, entries]) {
    notes.top = FIRST_PLACE;
    if (notes.values.length > KEPT) notes.values = new Int32Array(FIRST_SIZE);
  }
}

/** Of the enum number at this offset. The cursor stays. */
export function hasName({ near, far }: EnumNames, offset: number): boolean {
  const { at } = tape;
  tape.at = offset;
  const number = readInt32();
  tape.at = at;
  return (near[number] ?? far.get(number)) !== undefined;
}
