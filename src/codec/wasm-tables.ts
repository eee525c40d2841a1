/**
 * Messages of the Schema in the memory of the WebAssembly engine (`wasm/layout.ts`), each when first needed: they are
 * described here, and the engine makes tables of that.
 */
import type { Enum, Field, Message } from "../schema/model.ts";
import * as Type from "../schema/type.ts";
import * as layout from "../wasm/layout.ts";
import * as Kind from "./kind.ts";
import { kindOfMessage, kindOfScalar } from "./kind-of.ts";
import { scalarOf } from "./scalar.ts";
import * as Shape from "./shape.ts";
import * as WireType from "./wire-type.ts";

/** Bits of a word. */
const MAX_ONEOFS = 64;
/** More bytes than the tables of a message or an enum take, beside its fields or values: lists by number above all. */
const TABLE_BYTES = 2048;
/** More than those of a field or value take beside its names: both keys, two places in a hash table half full. */
const ENTRY_BYTES = layout.FIELD_SIZE + 2 * layout.NAME_SIZE + 160;
const WORD = 4;

const utf8 = new TextEncoder();
/** What stands in JSON, and in UTF-8, as it is. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** Thrown where a table does not fit. The one that asked for it has to make room, and to ask again. */
export const FULL = Symbol("full");

/** What the tables need of the engine. */
export interface TableHost {
  readonly memory: WebAssembly.Memory;
  writeMessage(
    start: number,
    kind: number,
    described: number,
    count: number,
    innerCount: number,
    oneofs: number,
    text: number,
  ): number;
  writeEnum(
    start: number,
    isClosed: boolean,
    described: number,
    count: number,
    defaultNumber: number,
    text: number,
  ): number;
}

/** The message in a field, the message that has the field, and which of its fields it is. */
interface HeldMessage {
  readonly inner: Message;
  readonly outer: Message;
  readonly place: number;
}

export class Tables {
  /** Where the room for tables ends. */
  end: number;
  readonly #host: TableHost;
  readonly #start: number;
  #next: number;
  readonly #messages = new WeakMap<Message, number>();
  readonly #enums = new WeakMap<Enum, number>();
  /** Fields that hold messages, and what holds them, by number. */
  readonly #fields: HeldMessage[] = [];

  /** @param start of the room for tables. */
  constructor(host: TableHost, start: number, end: number) {
    this.#host = host;
    this.#start = start;
    this.#next = start;
    this.end = end;
  }

  /** That tables take. */
  get bytes(): number {
    return this.#next - this.#start;
  }

  /** Makes room for twice as many tables. What lies behind them has to move. */
  extend(): void {
    this.end += this.end - this.#start;
  }

  /** @returns its address. @throws FULL */
  message(message: Message): number {
    let address = this.#messages.get(message);
    if (address === undefined) {
      address = this.#writeMessage(message);
      this.#messages.set(message, address);
    }
    return address;
  }

  /** @returns address of a field of the message. @throws FULL */
  field(message: Message, field: Field): number {
    return this.#placeOf(message, message.fields.indexOf(field));
  }

  /** The message inside a field, for which the engine asked. @returns its address. @throws FULL */
  messageOf(id: number): number {
    const { inner, outer, place } = this.#fields[id] as HeldMessage;
    const address = this.message(inner);
    this.#words().setInt32(this.#placeOf(outer, place) + layout.FIELD_MESSAGE, address, true);
    return address;
  }

  #placeOf(message: Message, place: number): number {
    const fields = this.#words().getUint32(this.message(message) + layout.MESSAGE_FIELDS, true);
    return fields + place * layout.FIELD_SIZE;
  }

  /** Memory that grew is another buffer. */
  #words(): DataView {
    return new DataView(this.#host.memory.buffer);
  }

  #writeMessage(message: Message): number {
    const { fields, oneofs } = message;
    const fieldNumber = this.#fields.length;
    try {
      const description = new Description(message.fields.length);
      for (const field of fields) {
        const oneof = field.oneof ? fields.length + oneofs.indexOf(field.oneof) : -1;
        this.#describe(description, message, field, oneof);
      }
      // Maps and wrappers have put others behind.
      for (let i = 0; i < description.inner.length; i++) {
        this.#describe(description, message, description.inner[i] as Field, -1);
      }
      const kind = oneofs.length > MAX_ONEOFS ? Kind.OTHER : kindOfMessage(message);
      const count = fields.length;
      return this.#place(description, (start, words, text) =>
        this.#host.writeMessage(start, kind, words, count, description.inner.length, oneofs.length, text),
      );
    } catch (error) {
      this.#fields.length = fieldNumber;
      throw error;
    }
  }

  #describe(description: Description, message: Message, field: Field, oneof: number): void {
    const { words } = description;
    const isMessage = field.message !== undefined || field.map !== undefined;
    const isGroup = field.type === Type.GROUP;
    const wireType = isGroup ? WireType.SGROUP : isMessage ? WireType.LEN : scalarOf(field).wireType;
    const packable = field.repeated && wireType !== WireType.LEN && !isGroup;
    const kind = kindOf(field);
    const shape = field.map
      ? Shape.MAP
      : !field.repeated
        ? Shape.SINGULAR
        : packable && field.packed
          ? Shape.PACKED
          : Shape.LIST;
    const flags =
      (field.presence ? layout.HAS_PRESENCE : 0) |
      (packable ? layout.IS_PACKABLE : 0) |
      (kind === Kind.VALUE || kind === Kind.NULL ? layout.TAKES_NULL : 0);
    const place = words.length / (layout.DESCRIBED_FIELD / WORD);
    words.push(kind | (shape << 8) | (flags << 16) | (wireType << 24), field.number, oneof);
    words.push(description.name(field.jsonName), field.name === field.jsonName ? 0 : description.name(field.name));
    words.push(this.#fields.length, field.enum ? this.#enum(field.enum) : 0);
    if (field.map) words.push(description.push(field.map.key), description.push(field.map.value));
    else words.push(-1, kind === Kind.WRAPPER ? description.push(field.message?.fields[0] as Field) : -1);
    if (field.message) this.#fields.push({ inner: field.message, outer: message, place });
  }

  #enum(enumeration: Enum): number {
    let address = this.#enums.get(enumeration);
    if (address === undefined) {
      const { values, closed } = enumeration;
      const description = new Description(values.length);
      // A sort keeps the order of those with one number.
      for (const { name, number } of values.toSorted((a, b) => a.number - b.number)) {
        description.words.push(number, description.name(name));
      }
      address = this.#place(description, (start, words, text) =>
        this.#host.writeEnum(start, closed, words, values.length, values[0]?.number ?? 0, text),
      );
      this.#enums.set(enumeration, address);
    }
    return address;
  }

  /**
   * @param write what is described, of which words and text stand behind the room that its tables may take.
   * @returns where its tables are. @throws FULL
   */
  #place(description: Description, write: (start: number, words: number, text: number) => number): number {
    const { words, text, entries } = description;
    const start = this.#next;
    const room = TABLE_BYTES + entries * ENTRY_BYTES + 3 * 2 * text.length;
    const wordsAt = (start + room + WORD) & -WORD;
    const textAt = wordsAt + words.length * WORD;
    // No unit of a string takes more than three bytes.
    if (textAt + 3 * text.length > this.end) throw FULL;
    const { buffer } = this.#host.memory;
    const view = new DataView(buffer, wordsAt);
    for (let i = 0; i < words.length; i++) view.setInt32(i * WORD, words[i] as number, true);
    utf8.encodeInto(text, new Uint8Array(buffer, textAt));
    this.#next = write(start, wordsAt, textAt);
    return start;
  }
}

/** What is said of a message or an enum. */
class Description {
  readonly words: number[] = [];
  /** All names, one behind the other. */
  text = "";
  /** Fields that are in no message: of the entries of maps, and in wrappers. They are described behind the others. */
  readonly inner: Field[] = [];
  readonly #count: number;

  /** @param count of fields or values. */
  constructor(count: number) {
    this.#count = count;
  }

  get entries(): number {
    return this.#count + this.inner.length;
  }

  /** @returns length of the name in UTF-8. */
  name(name: string): number {
    if (PLAIN.test(name)) {
      this.text += name;
      return name.length;
    }
    const json = JSON.stringify(name).slice(1, -1);
    this.text += json;
    return utf8.encode(json).length | (json === name ? 0 : layout.IS_ESCAPED);
  }

  /** @returns which one it will be. */
  push(field: Field): number {
    return this.#count + this.inner.push(field) - 1;
  }
}

function kindOf(field: Field): number {
  if (field.map) return Kind.MESSAGE;
  if (field.type === Type.GROUP) return Kind.GROUP;
  if (field.enum) return field.enum.name === "google.protobuf.NullValue" ? Kind.NULL : Kind.ENUM;
  return field.message ? kindOfMessage(field.message) : kindOfScalar(field.type);
}
