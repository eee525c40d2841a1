/** The tree of values that path, query or form give to fields of a message: names to fields, and records into the tree. */
import type { ConnectError } from "@connectrpc/connect";
import type { Bound, BoundValue } from "../codec/codec.ts";
import { equalBytes } from "../codec/equal-bytes.ts";
import { fieldError } from "../codec/error.ts";
import { findField } from "../schema/lookup.ts";
import type { Field, Message } from "../schema/model.ts";
import { specialOf } from "../schema/special.ts";

/** Characters of a caller's name that an error repeats. */
const MAX_TOLD = 200;

export interface Source {
  /** As the caller or the template spells it. */
  readonly name: string;
  readonly from: "path" | "query" | "form";
}

export interface NameOptions {
  /** A name that is no field is skipped. */
  readonly ignoreUnknown: boolean;
  readonly maxDepth: number;
}

/**
 * The fields along a dotted name, in JSON or proto spelling each.
 *
 * @returns undefined when a step names no field and that is to be ignored.
 * @throws ConnectError invalid_argument when it is not, and for a name that leads through what has no fields to name.
 */
export function resolveName(
  message: Message,
  { name, from }: Source,
  { ignoreUnknown, maxDepth }: NameOptions,
): readonly Field[] | undefined {
  const steps = name.split(".");
  if (steps.length > maxDepth) throw fieldError(name.slice(0, MAX_TOLD), `exceeds the depth of ${maxDepth}`);
  const path: Field[] = [];
  let parent: Message | undefined = message;
  for (const step of steps) {
    const last = path.at(-1);
    if (last?.map || last?.repeated || (last && isDynamic(last))) throw unsuited(last, { name, from });
    const field: Field | undefined = parent && findField(parent, step);
    if (!field) {
      if (ignoreUnknown) return undefined;
      throw fieldError(name.slice(0, MAX_TOLD), `no such field in ${parent?.name ?? `${last?.name}, which has none`}`);
    }
    path.push(field);
    parent = field.message;
  }
  return path;
}

/** Messages that no set of leaves can stand for. */
function isDynamic({ message }: Field): boolean {
  const special = message && specialOf(message);
  return special === "any" || special === "struct" || special === "value" || special === "list";
}

/** The error for a field that no text can stand for. */
export function unsuited(field: Field, { name, from }: Source): ConnectError {
  return fieldError(name, `${field.name} is ${kindOf(field)}, which a ${from} cannot hold`);
}

/** Of a field that no text can stand for: what it is. */
export function kindOf(field: Field): string {
  if (field.map) return "a map";
  return field.repeated ? "a list of messages" : `a ${field.message?.name}`;
}

/**
 * Puts records of the last field of the path where they belong.
 *
 * @param pathWins a value that is not the path's is dropped, instead of refused.
 * @throws ConnectError invalid_argument naming the source: two values for a singular field, a value other than the path's.
 */
export function put(bound: Bound, path: readonly Field[], wire: Uint8Array, source: Source, pathWins = false): void {
  const leaf = path[path.length - 1];
  if (!leaf) return;
  let { fields } = bound;
  for (const step of path.slice(0, -1)) {
    let value = fields.get(step);
    if (!value) {
      value = { kind: "message", bound: { fields: new Map() } };
      fields.set(step, value);
    }
    if (value.kind === "record") {
      if (value.from === "path" && pathWins) return;
      throw fieldError(source.name, `${step.name} is given twice`);
    }
    fields = value.bound.fields;
  }
  const known = fields.get(leaf);
  if (known instanceof ListRecord) {
    known.append(wire);
  } else if (!known) {
    fields.set(leaf, recordOf(leaf, wire, source));
  } else if (known.kind === "message" || known.from === source.from) {
    throw fieldError(source.name, "more than one value is given");
  } else if (!equalBytes(known.wire, wire) && !pathWins) {
    throw fieldError(source.name, "the path has another value");
  }
}

function recordOf(field: Field, wire: Uint8Array, source: Source): BoundValue {
  return field.repeated ? new ListRecord(wire, source) : { kind: "record", wire, ...source };
}

/** The records of a repeated field, joined when asked for: each joining copies all that came before. */
class ListRecord {
  readonly kind = "record";
  readonly name: string;
  readonly from: Source["from"];
  readonly #wires: Uint8Array[];

  constructor(wire: Uint8Array, { name, from }: Source) {
    this.name = name;
    this.from = from;
    this.#wires = [wire];
  }

  append(wire: Uint8Array): void {
    this.#wires.push(wire);
  }

  get wire(): Uint8Array {
    const joined = new Uint8Array(this.#wires.reduce((length, wire) => length + wire.length, 0));
    let at = 0;
    for (const wire of this.#wires) {
      joined.set(wire, at);
      at += wire.length;
    }
    return joined;
  }
}
