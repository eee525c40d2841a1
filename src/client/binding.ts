/** Binds path and query to fields of the request message (google/api/http.proto, "Rules for HTTP mapping"). */
import type { ConnectError } from "@connectrpc/connect";
import type { Bound } from "../codec/codec.ts";
import { equalBytes } from "../codec/equal-bytes.ts";
import { fieldError } from "../codec/error.ts";
import { encodeText } from "../codec/text.ts";
import type { Match, Route } from "../route/route.ts";
import { findField } from "../schema/lookup.ts";
import type { Field, Message } from "../schema/model.ts";
import { hasTextForm, specialOf } from "../schema/special.ts";
import type { ClientOptions } from "./exchange.ts";
import { decodePercent, type Parameter, parseQuery } from "./query.ts";

/** Characters of a parameter's name that an error repeats. */
const MAX_TOLD = 200;

type BindingOptions = Pick<ClientOptions, "unknownQuery" | "skippedQuery" | "maxDepth">;

/**
 * @param query without its "?".
 * @returns the values of path and query as a tree of records; path first.
 * @throws ConnectError invalid_argument naming the variable or parameter: text that is none of the field's type, an
 *   unknown parameter, a field of the body, two values for a singular field, a value other than the path's.
 */
export function bindRequest({ route, values }: Match, query: string, options: BindingOptions): Bound {
  const bound: Bound = { fields: new Map() };
  route.variables.forEach((variable, i) => {
    const text = decodeVariable(values[i] ?? "", variable.multi, variable.field);
    put(bound, variable.path, text, { name: variable.field, from: "path" }, options);
  });
  for (const parameter of parseQuery(query)) bindParameter(bound, parameter, route, options);
  return bound;
}

/** A one-segment variable is decoded fully and once; in a longer one `%2F` stays, since "/" parts its segments. */
function decodeVariable(raw: string, multi: boolean, name: string): string {
  const where = `path variable ${name}`;
  if (!multi || !/%2f/i.test(raw)) return decodePercent(raw, where);
  const parts = raw.split(/(%2f)/i);
  return parts.map((part, i) => (i % 2 === 1 ? part : decodePercent(part, where))).join("");
}

function bindParameter(bound: Bound, { name, value }: Parameter, route: Route, options: BindingOptions): void {
  if (options.skippedQuery.has(name)) return;
  const lenient = options.unknownQuery === "ignore";
  if (route.body === "*") {
    if (lenient) return;
    throw fieldError(name, 'with body "*" there is no query parameter');
  }
  const path = resolve(route.method.input, name, options);
  if (!path) return;
  if (path[0] === route.body) {
    if (lenient) return;
    throw fieldError(name, `${path[0]?.name} is the body, and cannot come from the query`);
  }
  put(bound, path, value, { name, from: "query" }, options);
}

/**
 * The fields along a dotted name, in JSON or proto spelling each.
 *
 * @returns undefined when a step names no field and that is to be ignored.
 * @throws ConnectError invalid_argument when it is not, and for a name that leads where no text can stand.
 */
function resolve(message: Message, name: string, options: BindingOptions): readonly Field[] | undefined {
  const { maxDepth, unknownQuery } = options;
  const steps = name.split(".");
  if (steps.length > maxDepth) throw fieldError(name.slice(0, MAX_TOLD), `exceeds the depth of ${maxDepth}`);
  const path: Field[] = [];
  let parent: Message | undefined = message;
  for (const step of steps) {
    const last = path.at(-1);
    if (last?.map || last?.repeated || (last && isDynamic(last))) throw unsuited(name, last);
    const field: Field | undefined = parent && findField(parent, step);
    if (!field) {
      if (unknownQuery === "ignore") return undefined;
      throw fieldError(name.slice(0, MAX_TOLD), `no such field in ${parent?.name ?? `${last?.name}, which has none`}`);
    }
    path.push(field);
    parent = field.message;
  }
  const leaf = path.at(-1);
  if (leaf && !hasTextForm(leaf)) throw unsuited(name, leaf);
  return path;
}

/** Messages that no set of leaves can stand for. */
function isDynamic({ message }: Field): boolean {
  const special = message && specialOf(message);
  return special === "any" || special === "struct" || special === "value" || special === "list";
}

function unsuited(name: string, field: Field): ConnectError {
  const kind = field.map ? "a map" : field.repeated ? "a list of messages" : `a ${field.message?.name}`;
  return fieldError(name, `${field.name} is ${kind}, which a query cannot hold`);
}

interface Source {
  /** As the caller or the template spells it. */
  readonly name: string;
  readonly from: "path" | "query";
}

function put(bound: Bound, path: readonly Field[], text: string, source: Source, options: BindingOptions): void {
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
      if (value.from === "path" && options.unknownQuery === "ignore") return;
      throw fieldError(source.name, `${step.name} is given twice`);
    }
    fields = value.bound.fields;
  }
  const wire = encodeText(leaf, text, source.name);
  const known = fields.get(leaf);
  if (known instanceof ListRecord) {
    known.append(wire);
  } else if (!known) {
    fields.set(leaf, leaf.repeated ? new ListRecord(wire, source) : { kind: "record", wire, ...source });
  } else if (known.kind === "message" || known.from === source.from) {
    throw fieldError(source.name, "more than one value is given");
  } else if (!equalBytes(known.wire, wire) && options.unknownQuery === "error") {
    throw fieldError(source.name, "the path has another value");
  }
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
