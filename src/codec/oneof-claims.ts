/** Which member each oneof of one message has, over all sources of its values. */
import type { Field, Oneof } from "../schema/model.ts";

export class OneofClaims {
  /** Not made before there is one: most messages have no oneof. */
  #members: Map<Oneof, Field> | undefined;

  /** Notes that the field is set. @returns what is wrong with that, if anything. The same field may come again. */
  claim(field: Field): string | undefined {
    if (field.oneof === undefined) return undefined;
    this.#members ??= new Map();
    const member = this.#members.get(field.oneof);
    this.#members.set(field.oneof, field);
    if (member === undefined || member === field) return undefined;
    return `the oneof ${field.oneof.name} is set twice, by ${member.name} and ${field.name}`;
  }
}
