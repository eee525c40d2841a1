/**
 * Our codec judged by @bufbuild/protobuf: one conversion at a time, its value, its time and what it allocates.
 *
 * Where both take an input they must see the same in it. Which inputs are taken is for the rules to say, not for the
 * peer: `Verdict` tells, and the caller decides whether it may be so.
 */
import { isDeepStrictEqual } from "node:util";
import {
  createFileRegistry,
  createRegistry,
  type DescMessage,
  fromBinary,
  fromJsonString,
  type JsonValue,
  type Registry,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import {
  FileDescriptorSetSchema,
  file_google_protobuf_any,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
} from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { toStringMethod } from "fast-check";
import type { JsonOptions } from "../../src/codec/codec.ts";
import { compileCodec } from "../../src/codec/compile.ts";
import type { Message, Schema } from "../../src/schema/model.ts";
import { readSchema } from "../../src/schema/read.ts";
import { messageOf } from "../proto.ts";
import { withNumbers } from "./int64-numbers.ts";
import { isOrderly } from "./orderly.ts";
import { countUnknown } from "./unknown-count.ts";

/** `incomparable`: the peer does not look there at what the rules ask for. */
export type Verdict = "same" | "both refuse" | "only we refuse" | "only the peer refuses" | "incomparable";

export type PrintOptions = Pick<JsonOptions, "emitDefaults" | "useProtoFieldName" | "enumAsInteger" | "int64AsNumber">;

export interface Subject {
  readonly desc: DescMessage;
  readonly message: Message;
  /** How fast-check shows it. */
  readonly [toStringMethod]: () => string;
  /** JSON → wire. @throws Error when the two differ, or a bound is passed. */
  encode(json: string, unknownFields?: JsonOptions["unknownFields"]): Verdict;
  /** Wire → JSON. @throws likewise. */
  decode(wire: Uint8Array, options?: PrintOptions): Verdict;
  /** How many fields of the wire are unknown. @throws likewise. */
  countUnknown(wire: Uint8Array): Verdict;
}

export interface Oracle {
  readonly registry: Registry;
  readonly schema: Schema;
  subject(desc: DescMessage): Subject;
}

/** No conversion of some kilobytes takes longer, on however busy a machine. */
const MAX_MS = 5_000;
/** Of heap and buffers together: for code that is compiled and tables that are made, and for each byte of the input. */
const MAX_BYTES = 16 << 20;
const MAX_BYTES_PER_BYTE = 1024;

/** For the peer it is the empty message; null leaves a field unset. */
const NULL_EXTENSION = /\]"\s*:\s*null/;

/**
 * What the peer refuses although it may or must be taken: a byte order mark (RFC 8259 §8.1), and a null beside another
 * member of its oneof.
 */
const PEER_REFUSES = [/^\ufeff/, /:\s*null/];

const WELL_KNOWN = [
  file_google_protobuf_any,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
];

const PRINT: PrintOptions = {
  emitDefaults: false,
  useProtoFieldName: false,
  enumAsInteger: false,
  int64AsNumber: false,
};

/** @param set a FileDescriptorSet with all imports. */
export function createOracle(set: Uint8Array): Oracle {
  // As ours, the peer knows the well-known types whether or not they are in the set.
  const registry = createRegistry(...WELL_KNOWN, createFileRegistry(fromBinary(FileDescriptorSetSchema, set)));
  const schema = readSchema(set);
  const contexts = new Map<string, Parameters<typeof compileCodec>[1]>();

  function codecFor(message: Message, options: Omit<JsonOptions, "maxDepth">) {
    const key = JSON.stringify(options);
    const context = contexts.get(key) ?? { registry: schema, options: { ...options, maxDepth: 100 } };
    contexts.set(key, context);
    return compileCodec(message, context);
  }

  function subject(desc: DescMessage): Subject {
    const message = messageOf(schema, desc.typeName);
    /** What the peer sees in a message, once it went over the wire, where floats get their 32 bits. */
    const shown = (wire: Uint8Array): JsonValue => toJson(desc, fromBinary(desc, wire), { registry });
    const shownJson = (json: string, ignoreUnknownFields = false): JsonValue =>
      shown(toBinary(desc, fromJsonString(desc, json, { registry, ignoreUnknownFields })));

    function peerJson(wire: Uint8Array, { emitDefaults, int64AsNumber, ...names }: PrintOptions): unknown {
      const json = toJson(desc, fromBinary(desc, wire), { registry, alwaysEmitImplicit: emitDefaults, ...names });
      return int64AsNumber ? withNumbers(desc, json, registry) : json;
    }

    return {
      desc,
      message,
      [toStringMethod]: () => desc.typeName,
      encode(json, unknownFields = "error") {
        const { encode } = codecFor(message, { ...PRINT, unknownFields });
        const bytes = Buffer.from(json);
        const ours = attempt(() => within(bytes, encode), Code.InvalidArgument);
        // Half of a surrogate pair is another character on the way, to the peer as well.
        const theirs = attempt(() => shownJson(bytes.toString(), unknownFields === "ignore"));
        if (ours && !theirs && PEER_REFUSES.some((pattern) => pattern.test(json))) return "incomparable";
        if (ours === undefined || theirs === undefined) return refusal(ours, theirs);
        if (NULL_EXTENSION.test(json)) return "incomparable";
        mustEqual(shown(ours.value), theirs.value, json);
        return "same";
      },
      decode(wire, options = PRINT) {
        const { decode } = codecFor(message, { ...options, unknownFields: "error" });
        const ours = attempt(() => within(wire, decode), Code.Internal);
        const theirs = attempt(() => peerJson(wire, options));
        if (ours === undefined && theirs === undefined) return "both refuse";
        if (!isOrderly(desc, wire, registry)) return "incomparable";
        if (ours === undefined || theirs === undefined) return refusal(ours, theirs);
        const json = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(ours.value);
        const hex = Buffer.from(wire).toString("hex");
        mustEqual(roughly(JSON.parse(json)), roughly(theirs.value), hex);
        mustEqual(shownJson(json), shown(wire), hex);
        return "same";
      },
      countUnknown(wire) {
        const { decode } = codecFor(message, { ...PRINT, unknownFields: "error" });
        const skipped = { unknownFields: 0 };
        if (!attempt(() => within(wire, (wire) => decode(wire, skipped)), Code.Internal)) return "incomparable";
        if (!isOrderly(desc, wire, registry)) return "incomparable";
        const theirs = countUnknown(desc, fromBinary(desc, wire), registry);
        mustEqual(skipped.unknownFields, theirs, Buffer.from(wire).toString("hex"));
        return "same";
      },
    };
  }

  return { registry, schema, subject };
}

function refusal(ours: unknown, theirs: unknown): Verdict {
  if (ours === undefined) return theirs === undefined ? "both refuse" : "only we refuse";
  return "only the peer refuses";
}

/** @param code of the errors that may be thrown; without it any may. @returns undefined when one was. */
function attempt<T>(run: () => T, code?: Code): { readonly value: T } | undefined {
  try {
    return { value: run() };
  } catch (error) {
    if (code === undefined || (error instanceof ConnectError && error.code === code)) return undefined;
    throw error;
  }
}

/** Runs a conversion. @throws Error when it takes too long or too much memory, whether it succeeds or not. */
function within(input: Uint8Array, convert: (input: Uint8Array) => Uint8Array): Uint8Array {
  const before = allocated();
  const start = performance.now();
  try {
    return convert(input);
  } finally {
    const ms = performance.now() - start;
    const bytes = allocated() - before;
    if (ms > MAX_MS) mustNot(`took ${Math.round(ms)} ms`, input);
    if (bytes > MAX_BYTES + input.length * MAX_BYTES_PER_BYTE) mustNot(`allocated ${bytes} bytes`, input);
  }
}

function mustNot(what: string, input: Uint8Array): never {
  throw new Error(`${what} for ${input.length} bytes: ${Buffer.from(input).toString("base64")}`);
}

function allocated(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

function mustEqual(ours: unknown, theirs: unknown, input: string): void {
  if (isDeepStrictEqual(withoutHosts(ours), withoutHosts(theirs))) return;
  throw new Error(`another value for ${input}\nours:   ${JSON.stringify(ours)}\ntheirs: ${JSON.stringify(theirs)}`);
}

/** Of a type URL the peer keeps the name only: every one becomes `type.googleapis.com/…`. */
function withoutHosts(value: unknown): unknown {
  return mapLeaves(value, (leaf, key) =>
    key === "@type" && typeof leaf === "string" ? leaf.slice(leaf.lastIndexOf("/") + 1) : leaf,
  );
}

/**
 * The form alone: every number as a float of 32 bits, of which we write fewer digits than the peer, and no minus zero,
 * which the peer's text has not.
 */
function roughly(value: unknown): unknown {
  return mapLeaves(value, (leaf) => (typeof leaf === "number" ? Math.fround(leaf) + 0 : leaf));
}

function mapLeaves(value: unknown, map: (leaf: unknown, key: string) => unknown, key = ""): unknown {
  if (Array.isArray(value)) return value.map((item) => mapLeaves(item, map, key));
  if (typeof value !== "object" || value === null) return map(value, key);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapLeaves(item, map, key)]));
}
