/** One run of a decoder: where it reads, where it writes, and where in the message it is. */
import { Code, ConnectError } from "@connectrpc/connect";
import type { Field, Message } from "../schema/model.ts";
import type { CodecContext } from "./codec.ts";
import { JsonWriter } from "./json-writer.ts";
import { TOO_DEEP, WireReader } from "./wire-reader.ts";

/** A message that was printed. */
export interface Part {
  /** Good until the next call. */
  readonly json: Uint8Array;
  /** How many were skipped in it. */
  readonly unknownFields: number;
}

/** What does messages inside of the one that it gave up: the printer (`PrintedParts`). */
export interface Parts {
  /**
   * @param levels that may be opened, this message included.
   * @returns undefined where the message that stands there shall be done here.
   */
  print(message: Message, start: number, end: number, levels: number): Part | undefined;
}

export class Decoding {
  readonly wire: Uint8Array;
  readonly context: CodecContext;
  readonly reader: WireReader;
  readonly writer: JsonWriter;
  /** How many were skipped so far (`Skipped`). */
  unknownFields = 0;
  readonly #root: Message;
  /** Fields, and in lists the index behind its field. */
  readonly #path: (Field | number)[] = [];
  #depth = 0;

  /** The printer, for messages inside of the one that it gave up. */
  readonly parts: Parts | undefined;

  constructor(wire: Uint8Array, root: Message, context: CodecContext, parts?: Parts) {
    this.wire = wire;
    this.parts = parts;
    this.context = context;
    this.reader = new WireReader(wire, (reason) => this.fault(reason));
    this.writer = new JsonWriter(context.options.maxJsonBytes);
    this.#root = root;
  }

  /** Groups that may nest in the message that is open. */
  get levelsLeft(): number {
    return this.context.options.maxDepth - this.#depth;
  }

  /** Opens a message: one level more. @throws ConnectError internal over `maxDepth`. */
  descend(): void {
    if (this.levelsLeft <= 0) throw this.fault(TOO_DEEP);
    this.#depth++;
  }

  ascend(): void {
    this.#depth--;
  }

  /** Errors are about this field, or this index of a list, until `leave`. */
  enter(step: Field | number): void {
    this.#path.push(step);
  }

  leave(): void {
    this.#path.pop();
  }

  /** `internal`, naming message and field. The reason holds nothing of the payload. */
  fault(reason: string): ConnectError {
    const path = this.#path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step.name}`)).join("");
    const where = path === "" ? "" : ` at ${path.slice(1)}`;
    return new ConnectError(`invalid ${this.#root.name} from the backend${where}: ${reason}`, Code.Internal);
  }
}
