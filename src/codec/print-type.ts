/** Which type the URL of a google.protobuf.Any names. */
import { giveUp, tape } from "./print-tape.ts";

const SLASH = 0x2f;
/** Longer names are left to the careful decoder. */
const MAX_NAME = 500;
/** A power of two. */
const PLACES = 32;

interface Known<T> {
  readonly name: Uint8Array;
  readonly type: T;
}

/**
 * Types by the bytes of their names. The last one at each place is kept, because to make a string of the name and to
 * look that up takes longer (0.3 µs) than to print most of what lies in an Any.
 */
export class TypesByName<T> {
  readonly #find: (name: string) => T | undefined;
  readonly #known: (Known<T> | undefined)[] = Array.from({ length: PLACES });

  /** @param find is asked for types that are not kept. */
  constructor(find: (name: string) => T | undefined) {
    this.#find = find;
  }

  /** Of the URL that begins at the cursor, which stays: the type behind its last slash. */
  typeOf(end: number): T | undefined {
    const { wire, at } = tape;
    let start = end;
    while (start > at && wire[start - 1] !== SLASH) start--;
    if (start === end || end - start > MAX_NAME) giveUp();
    const place = (end - start + (wire[end - 1] as number)) & (PLACES - 1);
    const known = this.#known[place];
    if (known !== undefined && isAt(known.name, start, end)) return known.type;
    const name = wire.slice(start, end);
    const type = this.#find(String.fromCharCode(...name));
    if (type !== undefined) this.#known[place] = { name, type };
    return type;
  }
}

function isAt(name: Uint8Array, start: number, end: number): boolean {
  if (name.length !== end - start) return false;
  const { wire } = tape;
  for (let i = 0; i < name.length; i++) if (name[i] !== wire[start + i]) return false;
  return true;
}
