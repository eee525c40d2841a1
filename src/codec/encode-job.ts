/** The state of one encode call: cursor, output, and where in the message it stands. */
import type { ConnectError } from "@connectrpc/connect";
import type { Field } from "../schema/model.ts";
import type { Bound, CodecContext } from "./codec.ts";
import { fieldError, quote } from "./error.ts";
import type { FastParts } from "./fast-encode.ts";
import { type JsonKind, JsonReader } from "./json-reader.ts";
import { WireWriter } from "./wire-writer.ts";

/** What is known of a message before its JSON is read. */
export interface Place {
  /** Its level; the root is 1. */
  readonly depth: number;
  /** Values for its fields from elsewhere; undefined when there are none. */
  readonly bound?: Bound | undefined;
  /** Leaf paths below it are collected, and begin with this: "" at the JSON's root. Undefined: none are collected. */
  readonly mask?: string | undefined;
  /** Its object is that of an Any: the key `@type` has been read already. */
  readonly any?: boolean;
}

/**
 * Characters of all leaf paths together. A path may be as long as `maxDepth` names, and a leaf as short as six bytes of
 * JSON, so in a recursive schema a mask can be hundreds of times its body. No ordinary one comes near.
 */
const MAX_MASK_LENGTH = 1 << 20;

/** A field, an index of a list, or a key of a map. */
type Step = Field | number | string;

export class EncodeJob {
  readonly context: CodecContext;
  readonly reader: JsonReader;
  readonly writer = new WireWriter();
  /** From the root message to what is being written. Whoever pushes also pops. */
  readonly path: Step[] = [];
  /** Leaf paths of the JSON in proto names (`EncodedRequest.mask`). */
  readonly mask: string[] = [];
  #maskLength = 0;
  /** How many were skipped so far (`Skipped`). */
  unknownFields = 0;
  /** What the last pass for `@type` found, by offset of the object; it covers the text before `end` (`encode-any.ts`). */
  readonly anyTypes = { end: 0, offsets: new Map<number, number>() };

  /** The fast encoder, for objects inside of the one that it gave up. */
  readonly parts: FastParts | undefined;

  constructor(context: CodecContext, json: Uint8Array, parts: FastParts | undefined) {
    this.context = context;
    this.parts = parts;
    this.reader = new JsonReader(json);
  }

  get ignoresUnknown(): boolean {
    return this.context.options.unknownFields === "ignore";
  }

  /** Passes over the value of a key that names no field. @param depth level of the message that has the key. */
  skipUnknown(depth: number): void {
    this.unknownFields++;
    this.reader.skip(this.context.options.maxDepth - depth);
  }

  /** Notes a leaf path. @throws ConnectError when all of them are too long together. */
  addLeaf(path: string): void {
    this.#maskLength += path.length;
    if (this.#maskLength > MAX_MASK_LENGTH) {
      throw this.error(`the update mask of this body is over ${MAX_MASK_LENGTH} characters; send one with the request`);
    }
    this.mask.push(path);
  }

  /** An error of the JSON value last peeked at, or of the key last read. */
  error(description: string, path = this.pathText()): ConnectError {
    return fieldError(path, description, this.reader.position(this.reader.tokenStart));
  }

  /** Another kind of JSON value stands where `expected` belongs. */
  wrongKind(expected: string, kind: JsonKind): ConnectError {
    return this.error(`expected ${expected}, got ${kind}`);
  }

  /** What is wrong with a message on this level, if anything. */
  depthFault(depth: number): string | undefined {
    const { maxDepth } = this.context.options;
    return depth > maxDepth ? `nesting depth is over ${maxDepth} levels` : undefined;
  }

  /** `addresses[3].zip`, `m_string["k"]`; "" at the root. */
  pathText(): string {
    let text = "";
    for (const step of this.path) {
      if (typeof step === "number") text += `[${step}]`;
      else if (typeof step === "string") text += `[${quote(step)}]`;
      else text = joinPath(text, step.name);
    }
    return text;
  }

  /** The path of something by that name in the message that is being written. */
  pathTo(name: string): string {
    return joinPath(this.pathText(), name);
  }
}

export function joinPath(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}
