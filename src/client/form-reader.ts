/** Reads forms: whole, or as their bytes come, when a file in them is a stream of messages. */
import { fieldError } from "../codec/error.ts";
import { tooLarge } from "../protocol/bytes.ts";
import type { Field } from "../schema/model.ts";
import type { ClientOptions, MethodCodecs } from "./exchange.ts";
import type { Form } from "./form.ts";
import { decodeText, FormFields } from "./form-fields.ts";
import { cutParts, type PartSink, tooManyFields } from "./multipart.ts";
import type { PartHead } from "./part-head.ts";
import { Pending } from "./pending.ts";
import { hasMoreThan, parseQuery } from "./query.ts";

type FormOptions = Pick<ClientOptions, "unknownFields" | "maxDepth" | "readMaxBytes" | "maxParameters">;

/** Makes request messages of a form, without what path and query have for them. Both methods throw ConnectError. */
export interface FormReader {
  /** @returns the messages that are whole with the chunk: none before a file that is streamed. */
  push(chunk: Uint8Array): readonly Uint8Array[];
  /** The form has ended. @returns its message; undefined: it went with the file that was streamed. */
  end(): Uint8Array | undefined;
}

export interface FormUse {
  /** An HttpBody is cut into messages, the first of which has the fields that came before it. Default: it is kept. */
  readonly streamsFiles?: boolean;
  /** Gets the leaf paths of what the form has, in proto names, from its target on. */
  readonly leaves?: Set<string>;
}

export function openForm(form: Form, codecs: MethodCodecs, options: FormOptions, use: FormUse = {}): FormReader {
  const { streamsFiles = false, leaves } = use;
  const fields = new FormFields(form.target, codecs, options, leaves);
  const { readMaxBytes, maxParameters } = options;
  return form.kind === "urlencoded"
    ? openUrlencoded(fields, readMaxBytes, maxParameters)
    : openMultipart(form.boundary, maxParameters, new Parts(fields, readMaxBytes, streamsFiles));
}

function openUrlencoded(fields: FormFields, maxBytes: number, maxFields: number): FormReader {
  const pending = new Pending(maxBytes);
  return {
    push(chunk) {
      pending.append(chunk);
      return [];
    },
    end() {
      const text = decodeText(pending.take(new Uint8Array(0)), "");
      if (hasMoreThan(text, maxFields)) throw tooManyFields(maxFields);
      for (const { name, value } of parseQuery(text, "form field")) fields.putText(name, value);
      return fields.finish();
    },
  };
}

function openMultipart(boundary: string, maxParts: number, parts: Parts): FormReader {
  const cutter = cutParts(boundary, maxParts, parts);
  return {
    push(chunk) {
      cutter.push(chunk);
      return parts.takeMessages();
    },
    end() {
      cutter.end();
      return parts.end();
    },
  };
}

interface Part {
  readonly head: PartHead;
  readonly path: readonly Field[];
  /** What came of one that is not streamed. */
  readonly data: Pending;
  /** Nothing came yet. */
  isEmpty: boolean;
}

/** What becomes of the parts, one after the other. */
class Parts implements PartSink {
  readonly #fields: FormFields;
  readonly #maxBytes: number;
  readonly #streamsFiles: boolean;
  /** Bytes that may still be kept. */
  #room: number;
  #messages: Uint8Array[] = [];
  /** That is being read; undefined: it is skipped. */
  #part: Part | undefined;
  /** The first message has been made, with the first bytes of a file. */
  #isSent = false;

  constructor(fields: FormFields, maxBytes: number, streamsFiles: boolean) {
    this.#fields = fields;
    this.#maxBytes = maxBytes;
    this.#streamsFiles = streamsFiles;
    this.#room = maxBytes;
  }

  begin(head: PartHead): void {
    const path = this.#fields.resolve(head.name);
    this.#part = path && { head, path, data: new Pending(this.#maxBytes), isEmpty: true };
  }

  append(bytes: Uint8Array): void {
    const part = this.#part;
    if (!part) return;
    if (this.#isStreamed(part)) {
      this.#send(part, bytes);
      return;
    }
    this.#refuseLate(part);
    this.#room -= bytes.length;
    if (this.#room < 0) throw tooLarge(this.#maxBytes);
    part.data.append(bytes);
    part.isEmpty = false;
  }

  finish(): void {
    const part = this.#part;
    // A file without a name and without bytes was not chosen.
    if (!part || (part.isEmpty && part.head.filename === "")) return;
    if (this.#isStreamed(part)) {
      if (part.isEmpty) this.#send(part, new Uint8Array(0));
      return;
    }
    this.#refuseLate(part);
    this.#fields.putPart(part.path, part.head, part.data.take(new Uint8Array(0)));
  }

  /** Those that are whole by now, each but once. */
  takeMessages(): readonly Uint8Array[] {
    const messages = this.#messages;
    this.#messages = [];
    return messages;
  }

  /** @returns the message of a form without a file that was streamed. */
  end(): Uint8Array | undefined {
    return this.#isSent ? undefined : this.#fields.finish();
  }

  #isStreamed({ path }: Part): boolean {
    return this.#streamsFiles && this.#fields.isFile(path);
  }

  #send(part: Part, bytes: Uint8Array): void {
    const { path, head, isEmpty } = part;
    if (!isEmpty) {
      this.#messages.push(this.#fields.pieceOf(path, bytes));
      return;
    }
    this.#refuseLate(part);
    this.#isSent = true;
    part.isEmpty = false;
    this.#fields.putPart(path, head, bytes);
    this.#messages.push(this.#fields.finish());
  }

  #refuseLate({ head }: Part): void {
    if (this.#isSent) throw fieldError(head.name, "comes behind the file that is streamed, of which there is one");
  }
}
