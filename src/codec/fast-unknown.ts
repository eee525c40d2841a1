/** Members of an object that name no field of its message. */

import { IRREGULAR, io } from "./fast-io.ts";
import { skipColon } from "./fast-name.ts";
import { closeKeys, type ManyKeys, openKeys, seeKey } from "./fast-seen.ts";
import { writeString } from "./fast-text.ts";
import { endOfType, isTypeKey } from "./fast-type.ts";
import { writeValue } from "./fast-value.ts";

export class UnknownMembers {
  readonly #type: number;
  readonly #place = openKeys();
  #many: ManyKeys | undefined;

  /** @param type where the `@type` of the Any stands whose object it is; negative: it is none. */
  constructor(type: number) {
    this.#type = type;
  }

  /**
   * Passes over a member: its key, which comes once, and its value, which is written like any JSON, to be checked, and
   * taken back.
   *
   * @param start of the key. @param depth level of the message.
   * @returns where the value ends.
   */
  skip(start: number, depth: number): number {
    if (this.#type >= 0 && isTypeKey(start)) return endOfType(start, this.#type);
    if (!io.ignoresUnknown) throw IRREGULAR;
    const { at } = io;
    const value = skipColon(writeString(start));
    this.#many = seeKey(this.#place, at, this.#many);
    const end = writeValue(value, depth + 1);
    io.at = at;
    io.skipped++;
    return end;
  }

  close(): void {
    closeKeys(this.#place);
  }
}
