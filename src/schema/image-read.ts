/** Reads the schema image (`image-format.ts`): services at once, messages and enums when they are first used. */
import { Code, ConnectError } from "@connectrpc/connect";
import { builtinMessage } from "./builtin.ts";
import * as DefaultKind from "./default-kind.ts";
import * as FieldFlag from "./field-flag.ts";
import { checksum, HEAD_BYTES, HEADER_BYTES, IDEMPOTENCIES, KINDS, MAGIC, TYPE_MASK, VERSION } from "./image-format.ts";
import { LazyMessage, type MessageContent } from "./lazy-message.ts";
import type { Enum, Field, HttpRule, Message, Method, Schema, Service, Template } from "./model.ts";
import * as RuleFlag from "./rule-flag.ts";
import * as Type from "./type.ts";

/** True for what `isthmus compile` has written, in whatever version; false for a descriptor set. */
export function isImage(bytes: Uint8Array): boolean {
  return MAGIC.every((byte, i) => bytes[i] === byte);
}

/**
 * @throws ConnectError invalid_argument, saying what to do, when the bytes are no image, are damaged, or are of another
 *   version.
 */
export function readImage(source: Uint8Array | ArrayBuffer): Schema {
  const bytes = source instanceof Uint8Array ? source : new Uint8Array(source);
  if (!isImage(bytes)) {
    throw unusable("these bytes are no schema image: `isthmus compile` makes one of .proto files or a descriptor set");
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < HEADER_BYTES + HEAD_BYTES || bytes.length % 4 !== 0) throw damaged();
  const version = view.getUint32(4, true);
  if (version !== VERSION) {
    throw unusable(
      `the schema image has version ${version}, this release of Isthmus reads ${VERSION}: run \`isthmus compile\` again`,
    );
  }
  if (view.getUint32(8, true) !== checksum(bytes)) throw damaged();
  return new Image(bytes, view).schema();
}

function damaged(): ConnectError {
  return unusable("the schema image is damaged: run `isthmus compile` again");
}

function unusable(message: string): ConnectError {
  return new ConnectError(message, Code.InvalidArgument);
}

class Image {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #text: string;
  /** Where the tables and the services begin. */
  readonly #stringTable = HEADER_BYTES + HEAD_BYTES;
  readonly #messageTable: number;
  readonly #enumTable: number;
  readonly #services: number;
  /** Read so far, by index. */
  readonly #strings: (string | undefined)[];
  readonly #messages: (Message | undefined)[];
  readonly #enums: (Enum | undefined)[];
  #messageIndexes: ReadonlyMap<string, number> | undefined;

  constructor(bytes: Uint8Array, view: DataView) {
    this.#bytes = bytes;
    this.#view = view;
    const [strings, messages, enums, textBytes] = [0, 4, 8, 12].map((at) =>
      view.getUint32(HEADER_BYTES + at, true),
    ) as [number, number, number, number];
    this.#messageTable = this.#stringTable + 4 * (strings + 1);
    this.#enumTable = this.#messageTable + 4 * messages;
    const text = this.#enumTable + 4 * enums;
    this.#services = text + textBytes;
    // Before anything is allocated.
    if (this.#services > bytes.length) throw damaged();
    this.#strings = new Array(strings);
    this.#messages = new Array(messages);
    this.#enums = new Array(enums);
    // One call for all strings: what is cut out of the text is shared by all who name it.
    this.#text = new TextDecoder().decode(bytes.subarray(text, this.#services));
  }

  schema(): Schema {
    const named = new Set<string>();
    const services = this.#cursor(this.#services).list((cursor) => this.#service(cursor, named));
    return {
      services,
      named,
      message: (fullName) => {
        const index = this.#indexesByName().get(fullName);
        return index === undefined ? builtinMessage(fullName) : this.#message(index);
      },
      messages: () => Array.from(this.#messages, (_, index) => this.#message(index)),
    };
  }

  #indexesByName(): ReadonlyMap<string, number> {
    this.#messageIndexes ??= new Map(
      Array.from(this.#messages, (_, index) => [this.#string(this.#messageRecord(index)), index]),
    );
    return this.#messageIndexes;
  }

  #service(cursor: Cursor, named: Set<string>): Service {
    const methods: Method[] = [];
    const service: Service = { name: this.#string(cursor), file: this.#string(cursor), methods };
    if (cursor.flag()) named.add(service.name);
    cursor.list(() => methods.push(this.#method(cursor, service)));
    return service;
  }

  #method(cursor: Cursor, service: Service): Method {
    const name = this.#string(cursor);
    const kind = KINDS[cursor.varint()];
    const idempotency = IDEMPOTENCIES[cursor.varint()];
    if (kind === undefined || idempotency === undefined) throw damaged();
    const input = this.#message(cursor.varint());
    const output = this.#message(cursor.varint());
    const line = cursor.varint();
    const rules = cursor.list(() => this.#rule(cursor));
    const path = `/${service.name}/${name}`;
    return { name, service, path, kind, idempotency, input, output, rules, ...(line !== 0 && { line }) };
  }

  #rule(cursor: Cursor): HttpRule {
    const method = this.#string(cursor);
    const template = this.#string(cursor);
    const body = this.#string(cursor);
    const responseBody = this.#string(cursor);
    const flags = cursor.varint();
    const nested = (flags & RuleFlag.NESTED) !== 0;
    const source = flags & RuleFlag.SOURCE ? { source: this.#string(cursor) } : undefined;
    const checked = flags & RuleFlag.CHECKED ? { checked: this.#template(cursor, template) } : undefined;
    return { method, template, body, responseBody, nested, ...source, ...checked };
  }

  #template(cursor: Cursor, text: string): Template {
    const segments = cursor.list(() => this.#string(cursor));
    const verb = this.#string(cursor);
    const variables = cursor.list(() => ({
      field: this.#string(cursor),
      start: cursor.varint(),
      end: cursor.varint(),
      multi: cursor.flag(),
    }));
    return { text, segments, verb, variables };
  }

  #message(index: number): Message {
    let message = this.#messages[index];
    if (!message) {
      message = new LazyMessage(this.#string(this.#messageRecord(index)), () => this.#content(index));
      this.#messages[index] = message;
    }
    return message;
  }

  #content(index: number): MessageContent {
    const cursor = this.#messageRecord(index);
    this.#string(cursor);
    const oneofs = cursor.list(() => ({ name: this.#string(cursor), fields: [] as Field[] }));
    const fields = cursor.list(() => this.#field(cursor, oneofs));
    for (const oneof of oneofs) cursor.list(() => oneof.fields.push(itemAt(fields, cursor.varint())));
    return { fields, oneofs };
  }

  #field(cursor: Cursor, oneofs: NonNullable<Field["oneof"]>[]): Field {
    const flags = cursor.varint();
    const type = fieldType(flags & TYPE_MASK);
    const map = (flags & FieldFlag.MAP) !== 0;
    const name = this.#string(cursor);
    const number = cursor.varint();
    const jsonName = flags & FieldFlag.JSON_NAME ? this.#string(cursor) : name;
    const oneof = flags & FieldFlag.ONEOF ? { oneof: itemAt(oneofs, cursor.varint()) } : undefined;
    const isMessage = !map && (type === Type.MESSAGE || type === Type.GROUP);
    return {
      name,
      jsonName,
      number,
      type,
      repeated: (flags & FieldFlag.REPEATED) !== 0,
      packed: (flags & FieldFlag.PACKED) !== 0,
      presence: (flags & FieldFlag.PRESENCE) !== 0,
      required: (flags & FieldFlag.REQUIRED) !== 0,
      utf8: (flags & FieldFlag.UTF8) !== 0,
      ...oneof,
      ...(isMessage && { message: this.#message(cursor.varint()) }),
      ...(type === Type.ENUM && { enum: this.#enum(cursor.varint()) }),
      ...(map && { map: { key: this.#entryField(cursor), value: this.#entryField(cursor) } }),
      ...(flags & FieldFlag.DEFAULT && { defaultValue: this.#default(cursor) }),
    };
  }

  /** Key or value of a map, which is no map itself: bytes that say so must not nest without end. */
  #entryField(cursor: Cursor): Field {
    if (cursor.peekVarint() & FieldFlag.MAP) throw damaged();
    return this.#field(cursor, []);
  }

  #default(cursor: Cursor): NonNullable<Field["defaultValue"]> {
    switch (cursor.varint()) {
      case DefaultKind.NUMBER:
        return this.#view.getFloat64(cursor.skip(8), true);
      case DefaultKind.INT64:
        return this.#view.getBigInt64(cursor.skip(8), true);
      case DefaultKind.UINT64:
        return this.#view.getBigUint64(cursor.skip(8), true);
      case DefaultKind.BOOLEAN:
        return cursor.flag();
      case DefaultKind.STRING:
        return this.#string(cursor);
      case DefaultKind.BYTES: {
        const length = cursor.varint();
        const start = cursor.skip(length);
        return this.#bytes.slice(start, start + length);
      }
      default:
        throw damaged();
    }
  }

  #enum(index: number): Enum {
    let read = this.#enums[index];
    if (!read) {
      const cursor = this.#record(this.#enumTable, index, this.#enums);
      const name = this.#string(cursor);
      const closed = cursor.flag();
      read = { name, closed, values: cursor.list(() => ({ name: this.#string(cursor), number: cursor.zigzag() })) };
      this.#enums[index] = read;
    }
    return read;
  }

  #string(cursor: Cursor): string {
    const index = cursor.varint();
    let string = this.#strings[index];
    if (string === undefined) {
      if (index >= this.#strings.length) throw damaged();
      const at = this.#stringTable + 4 * index;
      string = this.#text.slice(this.#view.getUint32(at, true), this.#view.getUint32(at + 4, true));
      this.#strings[index] = string;
    }
    return string;
  }

  #messageRecord(index: number): Cursor {
    return this.#record(this.#messageTable, index, this.#messages);
  }

  #record(table: number, index: number, items: readonly unknown[]): Cursor {
    if (index >= items.length) throw damaged();
    return this.#cursor(this.#view.getUint32(table + 4 * index, true));
  }

  #cursor(position: number): Cursor {
    return new Cursor(this.#bytes, position);
  }
}

/** The checksum tells accidents; bounds are checked all the same, so that no bytes whatever lead outside or on for ever. */
class Cursor {
  readonly #bytes: Uint8Array;
  #position: number;

  constructor(bytes: Uint8Array, position: number) {
    this.#bytes = bytes;
    this.#position = position;
  }

  varint(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.#bytes[this.#position++];
      if (byte === undefined) throw damaged();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
    throw damaged();
  }

  peekVarint(): number {
    const position = this.#position;
    const value = this.varint();
    this.#position = position;
    return value;
  }

  zigzag(): number {
    const value = this.varint();
    return (value >>> 1) ^ -(value & 1);
  }

  flag(): boolean {
    return this.varint() !== 0;
  }

  /** Every item takes a byte at least, so a count that lies comes to the end of the bytes soon. */
  list<T>(read: (cursor: Cursor) => T): T[] {
    const items: T[] = [];
    for (let count = this.varint(); count > 0; count--) items.push(read(this));
    return items;
  }

  /** @returns where the bytes that are skipped begin. */
  skip(length: number): number {
    const start = this.#position;
    this.#position += length;
    if (this.#position > this.#bytes.length) throw damaged();
    return start;
  }
}

function itemAt<T>(items: readonly T[], index: number): T {
  const item = items[index];
  if (item === undefined) throw damaged();
  return item;
}

function fieldType(number: number): Type.Value {
  if (number < Type.DOUBLE || number > Type.SINT64) throw damaged();
  return number as Type.Value;
}
