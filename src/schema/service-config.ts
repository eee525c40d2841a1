/** Reads http rules by selector from a service config (google.api.Service), and gives them to the methods they name. */
import { groupBy } from "./group-by.ts";
import type { Fault, HttpRule, Method, Schema, Service } from "./model.ts";

/** A google.api.Service as parsed YAML or JSON. Only `http` is looked at. */
export interface ServiceConfig {
  readonly http?: { readonly rules?: readonly ServiceConfigRule[] };
  readonly [other: string]: unknown;
}

/** A google.api.HttpRule in ProtoJSON; its two longer keys may be in lowerCamelCase as well. */
export interface ServiceConfigRule extends ServiceConfigBinding {
  /** `pkg.Service.Method`, `pkg.Service.*`, `pkg.*` or `*`. */
  readonly selector: string;
  readonly additional_bindings?: readonly ServiceConfigBinding[];
}

/** Exactly one of the first six. */
export interface ServiceConfigBinding {
  readonly get?: string;
  readonly put?: string;
  readonly post?: string;
  readonly delete?: string;
  readonly patch?: string;
  readonly custom?: { readonly kind: string; readonly path: string };
  readonly body?: string;
  readonly response_body?: string;
}

export interface ServiceConfigOptions {
  /**
   * "replace" (default): of the rules that fit a method the last one counts, and its annotation no more, as
   * google/api/http.proto says of service configs. "add": all that fit stand behind its annotation.
   */
  readonly mode?: "replace" | "add" | undefined;
  /** What faults call the config. Default "service config". */
  readonly name?: string;
}

/**
 * @returns the schema with its methods' rules as the config wants them, and faults: rules that cannot be read and
 *   selectors that fit nothing (both are left out), rules that later ones override (a warning).
 */
export function applyServiceConfig(
  schema: Schema,
  config: ServiceConfig,
  { mode = "replace", name = "service config" }: ServiceConfigOptions = {},
): { readonly schema: Schema; readonly faults: readonly Fault[] } {
  const reader = new ConfigReader(name);
  const rules = reader.rules(config);
  const find = indexRules(rules);
  const fits = new Set<SelectedRule>();
  const used = new Set<SelectedRule>();

  function rulesOf(method: Method): readonly HttpRule[] {
    const found = find(`${method.service.name}.${method.name}`);
    for (const rule of found) fits.add(rule);
    const chosen = mode === "replace" ? found.slice(-1) : found;
    for (const rule of chosen) used.add(rule);
    if (chosen.length === 0) return method.rules;
    return [...(mode === "add" ? method.rules : []), ...chosen.flatMap((rule) => rule.bindings)];
  }

  const services = schema.services.map((service) => withRules(service, rulesOf));
  for (const rule of rules) {
    if (!fits.has(rule)) {
      reader.fault(rule, "fits no method of the schema", 'write pkg.Service.Method, "pkg.Service.*" or "*"');
    } else if (!used.has(rule)) {
      reader.fault(rule, "never counts, because later rules fit the same methods", "leave it out", "warning");
    }
  }
  return { schema: { ...schema, services }, faults: reader.faults };
}

/** One rule of the config, and what it gives to each method that it fits. */
interface SelectedRule extends Place {
  readonly index: number;
  readonly bindings: readonly HttpRule[];
}

/** Where in the config, for faults. */
interface Place {
  /** `service config, http.rules[3]` */
  readonly source: string;
  readonly selector: string;
}

/** A copy of the service, in which methods have other rules. */
export function withRules(service: Service, rulesOf: (method: Method) => readonly HttpRule[]): Service {
  const methods: Method[] = [];
  const changed: Service = { ...service, methods };
  for (const method of service.methods) methods.push({ ...method, service: changed, rules: rulesOf(method) });
  return changed;
}

/** @returns finds the rules that fit a method, in the order of the config. */
function indexRules(rules: readonly SelectedRule[]): (method: string) => readonly SelectedRule[] {
  const exact = groupBy(rules, (rule) => rule.selector);
  const patterns = rules.filter(({ selector }) => selector.endsWith("*"));
  return (method) =>
    [
      ...(exact.get(method) ?? []),
      ...patterns.filter(({ selector }) => method.startsWith(selector.slice(0, -1))),
    ].toSorted((a, b) => a.index - b.index);
}

const VERBS = ["get", "put", "post", "delete", "patch"] as const;
const BINDING_KEYS: readonly string[] = [...VERBS, "custom", "body", "response_body"];
const RULE_KEYS: readonly string[] = [...BINDING_KEYS, "selector", "additional_bindings"];
const CAMEL_CASE: ReadonlyMap<string, string> = new Map([
  ["responseBody", "response_body"],
  ["additionalBindings", "additional_bindings"],
]);

const SELECTOR = /^(?:[A-Za-z_]\w*\.)*(?:[A-Za-z_]\w*|\*)$/;

type JsonObject = Readonly<Record<string, unknown>>;

/** Reads what somebody else parsed, so nothing about its shape is taken for granted; every fault is collected. */
class ConfigReader {
  readonly faults: Fault[] = [];
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  fault({ source, selector }: Place, message: string, fix: string, severity: Fault["severity"] = "error"): void {
    this.faults.push({ file: source, method: selector, template: "", message, fix, severity });
  }

  rules(config: unknown): readonly SelectedRule[] {
    const top: Place = { source: this.#name, selector: "http.rules" };
    const http = isObject(config) ? config.http : undefined;
    const rules = isObject(http) ? http.rules : undefined;
    if (!isObject(http) || !Array.isArray(rules)) {
      this.fault(top, "is no list", "give a google.api.Service, as in { http: { rules: [{ selector, get }] } }");
      return [];
    }
    for (const key of Object.keys(http)) {
      if (key !== "rules") this.fault({ ...top, selector: `http.${key}` }, "is not supported", "leave it out");
    }
    return rules.flatMap((rule: unknown, index) => this.#rule(rule, index) ?? []);
  }

  #rule(json: unknown, index: number): SelectedRule | undefined {
    const before = this.faults.length;
    const selector = isObject(json) && typeof json.selector === "string" ? json.selector : "";
    const place: Place = { source: `${this.#name}, http.rules[${index}]`, selector };
    const rule = this.#object(json, place, RULE_KEYS);
    if (rule && !SELECTOR.test(selector)) {
      this.fault(place, "the selector is no name", 'write pkg.Service.Method; "*" can stand for its end, behind a dot');
    }
    const bindings = rule && [
      this.#binding(rule, place, false),
      ...this.#list(rule.additional_bindings, place).map((nested) => this.#additional(nested, place)),
    ];
    return bindings && this.faults.length === before ? { ...place, index, bindings } : undefined;
  }

  #additional(json: unknown, place: Place): HttpRule {
    // Bindings that have bindings themselves are left to the check of rules, which refuses them wherever they stand.
    const binding = this.#object(json, place, [...BINDING_KEYS, "additional_bindings"]) ?? {};
    return this.#binding(binding, place, this.#list(binding.additional_bindings, place).length > 0);
  }

  #binding(json: JsonObject, place: Place, nested: boolean): HttpRule {
    return {
      ...this.#pattern(json, place),
      body: this.#text(json, "body", place),
      responseBody: this.#text(json, "response_body", place),
      nested,
      source: place.source,
    };
  }

  #pattern(json: JsonObject, place: Place): { method: string; template: string } {
    const given = [...VERBS, "custom"].filter((key) => json[key] !== undefined);
    if (given.length > 1) {
      this.fault(place, `${given.join(" and ")} exclude each other`, "put all but one into additional_bindings");
    }
    const [verb] = given;
    if (verb === undefined) return { method: "", template: "" };
    if (verb !== "custom") return { method: verb.toUpperCase(), template: this.#text(json, verb, place) };
    const custom = this.#object(json.custom, place, ["kind", "path"]) ?? {};
    return { method: this.#text(custom, "kind", place), template: this.#text(custom, "path", place) };
  }

  /** Keys in snake_case, without those that are null, which in ProtoJSON means unset. */
  #object(json: unknown, place: Place, keys: readonly string[]): JsonObject | undefined {
    if (!isObject(json)) {
      this.fault(place, `${JSON.stringify(json)} is no object`, `write an object of ${keys.join(", ")}`);
      return undefined;
    }
    const read: Record<string, unknown> = Object.create(null);
    for (const [key, value] of Object.entries(json)) {
      const name = CAMEL_CASE.get(key) ?? key;
      if (!keys.includes(name)) this.fault(place, `${key} is no key here`, `these are: ${keys.join(", ")}`);
      else if (name in read) this.fault(place, `${name} is there twice`, "leave one out");
      else if (value !== null && value !== undefined) read[name] = value;
    }
    return read;
  }

  #text(json: JsonObject, key: string, place: Place): string {
    const value = json[key] ?? "";
    if (typeof value === "string") return value;
    this.fault(place, `${key}: ${JSON.stringify(value)} is no text`, "put it in quotes");
    return "";
  }

  #list(value: unknown, place: Place): readonly unknown[] {
    if (value === undefined) return [];
    if (Array.isArray(value)) return value;
    this.fault(place, "additional_bindings is no list", "write a list of bindings");
    return [];
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
