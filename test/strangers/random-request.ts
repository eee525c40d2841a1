/** Random requests of a binding: a message is drawn, and split into path, query and body as google/api/http.proto says. */
import { type DescField, type DescMessage, fromJson, type JsonValue, type Message, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import type { Binding } from "./apis.ts";
import {
  type Fixed,
  fieldJson,
  fieldsJson,
  type Json,
  type JsonObject,
  keyOf,
  messageJson,
  NONE,
  nat,
  pick,
  type Sampling,
} from "./random-json.ts";

export interface RandomRequest {
  readonly httpMethod: string;
  readonly path: string;
  readonly query: string;
  readonly body?: { readonly contentType: string; readonly bytes: Uint8Array };
  /** What the request means. */
  readonly message: Message;
  /** PATCH: the paths that the gateway has to put into the request's mask, which the request does not give. */
  readonly mask?: { readonly field: DescField; readonly paths: ReadonlySet<string> };
}

const DEPTH = 4;

/** @param literals segments that templates of the API have: now and then a variable is such a text. */
export function randomRequest(sampling: Sampling, binding: Binding, literals: readonly string[]): RandomRequest {
  const { method, httpMethod, template } = binding;
  const { path, fixed } = randomPath(sampling, template, literals);
  const parts = randomParts(sampling, binding, fixed);
  const message = fromJson(method.input, parts.whole as JsonValue, { registry: sampling.registry });
  const request = { httpMethod, path, query: formatQuery(sampling, parts.query), message };
  if (!parts.body) return request;
  const { desc, json } = parts.body;
  if (desc && nat(sampling, 5) === 0) {
    const content = fromJson(desc, json as JsonValue, { registry: sampling.registry });
    return { ...request, body: { contentType: "application/proto", bytes: toBinary(desc, content) } };
  }
  const body = { contentType: "application/json", bytes: new TextEncoder().encode(JSON.stringify(json)) };
  const field = maskField(binding);
  if (!field || !desc || keyOf(sampling, field) in parts.whole) return { ...request, body };
  return { ...request, body, mask: { field, paths: new Set(leafPaths(desc, json as JsonObject, parts.bodyFixed)) } };
}

interface Parts {
  /** The message as one JSON object. */
  readonly whole: JsonObject;
  readonly query: JsonObject;
  /** Without `desc` the body is no message. */
  readonly body?: { readonly desc: DescMessage | undefined; readonly json: Json };
  /** What the path binds below the body field. */
  readonly bodyFixed: Fixed | undefined;
}

function randomParts(sampling: Sampling, { method: { input }, body }: Binding, fixed: Fixed): Parts {
  if (body === "*") {
    const whole = messageJson(sampling, input, "body", DEPTH, fixed);
    return { whole, query: {}, body: { desc: input, json: omitSome(sampling, input, whole, fixed) }, bodyFixed: fixed };
  }
  const bodyField = input.fields.find((field) => field.name === body);
  const others = input.fields.filter(
    (field) => field !== bodyField && !(field.oneof && field.oneof === bodyField?.oneof),
  );
  const rest = fieldsJson(sampling, others, "query", DEPTH, fixed);
  const query = omitSome(sampling, input, rest, fixed);
  if (!bodyField) return { whole: rest, query, bodyFixed: undefined };
  const key = keyOf(sampling, bodyField);
  const below = fixed.get(bodyField.name);
  if (typeof below === "string") throw new Error(`${body} is path and body`);
  if (nat(sampling, 8) === 0) {
    const bound = below && fieldsJson(sampling, bodyField.message?.fields ?? [], "body", 0, below);
    return { whole: bound ? { ...rest, [key]: bound } : rest, query, bodyFixed: below };
  }
  // With something fixed, be it nothing, the value is no null: a body is sent.
  const value = fieldJson(sampling, bodyField, "body", DEPTH, below ?? NONE) ?? null;
  const desc = bodyField.fieldKind === "message" ? bodyField.message : undefined;
  const json = desc && below ? omitSome(sampling, desc, value as JsonObject, below) : value;
  return { whole: { ...rest, [key]: value }, query, body: { desc, json }, bodyFixed: below };
}

/** What the path holds may stand elsewhere too, with the same value: some of it stays. */
function omitSome(sampling: Sampling, desc: DescMessage, json: JsonObject, fixed: Fixed): JsonObject {
  const entries = Object.entries(json).flatMap(([key, value]): [string, Json][] => {
    const field = desc.fields.find((field) => keyOf(sampling, field) === key);
    const known = field && fixed.get(field.name);
    if (known === undefined) return [[key, value]];
    if (typeof known === "string") return nat(sampling, 3) === 0 ? [[key, value]] : [];
    return field?.message ? [[key, omitSome(sampling, field.message, value as JsonObject, known)]] : [];
  });
  return Object.fromEntries(entries);
}

/** A path that fits the template, and the values that it binds. */
function randomPath(sampling: Sampling, template: string, literals: readonly string[]): { path: string; fixed: Fixed } {
  const fixed = new Map<string, string | Fixed>();
  const path = template.replaceAll(/\{([^=}]+)(?:=([^}]*))?\}/g, (_, field: string, pattern = "*") => {
    const multi = pattern === "**" || pattern.includes("/");
    const segments = (pattern as string).split("/").flatMap((segment) => {
      if (segment === "*") return [randomSegment(sampling, literals)];
      if (segment !== "**") return [segment];
      return Array.from({ length: 1 + nat(sampling, 2) }, () => randomSegment(sampling, literals));
    });
    // "/" parts the segments of a longer variable, so one inside of a segment stays escaped.
    const values = multi ? segments.map((segment) => segment.replaceAll("/", "%2F")) : segments;
    bind(fixed, field.split("."), values.join("/"));
    return segments.map((segment) => encodeSegment(sampling, segment)).join("/");
  });
  return { path, fixed };
}

const segmentText = () =>
  fc
    .string({ unit: "grapheme", minLength: 1, maxLength: 8 })
    // A segment that is dots is no data; hosts resolve it.
    .filter((text) => text !== "." && text !== "..");
const wordText = () => fc.stringMatching(/^[a-z][a-z0-9-]{0,7}(:[a-z]{1,4})?$/);

function randomSegment(sampling: Sampling, literals: readonly string[]): string {
  const kind = nat(sampling, 7);
  if (kind === 0) return pick(sampling, literals);
  return sampling.draw(kind < 4 ? wordText : segmentText);
}

/** Everything escaped, or what RFC 3986 §3.3 lets stand in a segment left alone. */
function encodeSegment(sampling: Sampling, text: string): string {
  const encoded = encodeURIComponent(text);
  return nat(sampling, 1) === 0 ? encoded : encoded.replaceAll(/%(?:3A|40|24|26|2B|2C|3B|3D)/g, decodeURIComponent);
}

function bind(fixed: Map<string, string | Fixed>, [name = "", ...rest]: readonly string[], value: string): void {
  if (rest.length === 0) {
    fixed.set(name, value);
    return;
  }
  const below = new Map(fixed.get(name) as Fixed | undefined);
  bind(below, rest, value);
  fixed.set(name, below);
}

/** Parameters in any order (rotated by a random number), the values of a list in theirs. */
function formatQuery(sampling: Sampling, json: JsonObject): string {
  const parameters = queryParameters(json, "");
  const start = parameters.length > 0 ? nat(sampling, parameters.length - 1) : 0;
  return [...parameters.slice(start), ...parameters.slice(0, start)]
    .flatMap(({ name, values }) => values.map((value) => `${name}=${encodeURIComponent(value)}`))
    .join("&");
}

function queryParameters(json: JsonObject, prefix: string): { name: string; values: readonly string[] }[] {
  return Object.entries(json).flatMap(([key, value]) => {
    const name = prefix + key;
    if (Array.isArray(value)) return [{ name, values: value.map(String) }];
    if (typeof value === "object" && value !== null) return queryParameters(value as JsonObject, `${name}.`);
    return [{ name, values: [String(value)] }];
  });
}

/** The one mask that a PATCH leaves to the gateway. */
function maskField({ method: { input }, httpMethod, body }: Binding): DescField | undefined {
  if (httpMethod !== "PATCH" || body === "" || body === "*") return undefined;
  const masks = input.fields.filter(({ message }) => message?.typeName === "google.protobuf.FieldMask");
  return masks.length === 1 ? masks[0] : undefined;
}

/** In proto names; lists, maps and well-known types are leaves, and so is a message that is empty. */
function leafPaths(desc: DescMessage, json: JsonObject, fixed: Fixed | undefined): string[] {
  return Object.entries(json).flatMap(([key, value]) => {
    const field = desc.fields.find(({ name, jsonName }) => name === key || jsonName === key);
    if (!field) throw new Error(`${desc.typeName} has no ${key}`);
    const known = fixed?.get(field.name);
    if (typeof known === "string") return [];
    const isEntered = field.fieldKind === "message" && !field.message.typeName.startsWith("google.protobuf.");
    const below = isEntered && value !== null ? leafPaths(field.message, value as JsonObject, known) : [];
    if (below.length > 0) return below.map((path) => `${field.name}.${path}`);
    return known ? [] : [field.name];
  });
}
