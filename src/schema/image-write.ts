/** Writes the schema image (`image-format.ts`); at build time only. */

import * as DefaultKind from "./default-kind.ts";
import * as FieldFlag from "./field-flag.ts";
import { checksum, HEAD_BYTES, HEADER_BYTES, IDEMPOTENCIES, KINDS, MAGIC, VERSION } from "./image-format.ts";
import type { Enum, Field, HttpRule, Message, Method, Schema, Template } from "./model.ts";
import * as RuleFlag from "./rule-flag.ts";
import * as Type from "./type.ts";

/** @returns the same bytes for the same schema, always. */
export function writeImage(schema: Schema): Uint8Array<ArrayBuffer> {
  return new ImageWriter(schema).finish();
}

/** Things by index, in the order in which they were first asked for. */
class Index<T> {
  readonly items: T[] = [];
  readonly #indexes = new Map<T, number>();

  of(item: T): number {
    let index = this.#indexes.get(item);
    if (index === undefined) {
      index = this.items.push(item) - 1;
      this.#indexes.set(item, index);
    }
    return index;
  }
}

class ImageWriter {
  readonly #strings = new Index<string>();
  readonly #messages = new Index<Message>();
  readonly #enums = new Index<Enum>();
  #out: number[] = [];

  constructor(schema: Schema) {
    for (const message of schema.messages()) this.#messages.of(message);
    this.#list(schema.services, (service) => {
      this.#string(service.name);
      this.#string(service.file);
      this.#varint(Number(schema.named.has(service.name)));
      this.#list(service.methods, (method) => this.#method(method));
    });
  }

  finish(): Uint8Array<ArrayBuffer> {
    const services = this.#take();
    const messages = this.#records(this.#messages, (message) => this.#message(message));
    const enums = this.#records(this.#enums, (type) => this.#enum(type));
    const { items: strings } = this.#strings;
    const text = new TextEncoder().encode(strings.join(""));

    const words = [strings.length, messages.length, enums.length, text.length];
    let start = 0;
    for (const string of [...strings, ""]) {
      words.push(start);
      start += string.length;
    }
    const tables = HEAD_BYTES + 4 * (strings.length + 1 + messages.length + enums.length);
    let position = HEADER_BYTES + tables + text.length + services.length;
    for (const record of [...messages, ...enums]) {
      words.push(position);
      position += record.length;
    }

    const image = new Uint8Array(Math.ceil(position / 4) * 4);
    const view = new DataView(image.buffer);
    for (const [i, word] of words.entries()) view.setUint32(HEADER_BYTES + 4 * i, word, true);
    let at = HEADER_BYTES + tables;
    for (const part of [text, services, ...messages, ...enums]) {
      image.set(part, at);
      at += part.length;
    }
    image.set(MAGIC);
    view.setUint32(4, VERSION, true);
    view.setUint32(8, checksum(image), true);
    return image;
  }

  /** Records of all that is in the index, and of what comes into it meanwhile. */
  #records<T>(index: Index<T>, write: (item: T) => void): number[][] {
    const records: number[][] = [];
    for (const item of index.items) {
      write(item);
      records.push(this.#take());
    }
    return records;
  }

  #take(): number[] {
    const written = this.#out;
    this.#out = [];
    return written;
  }

  #method(method: Method): void {
    this.#string(method.name);
    this.#varint(KINDS.indexOf(method.kind));
    this.#varint(IDEMPOTENCIES.indexOf(method.idempotency));
    this.#varint(this.#messages.of(method.input));
    this.#varint(this.#messages.of(method.output));
    this.#varint(method.line ?? 0);
    this.#list(method.rules, (rule) => this.#rule(rule));
  }

  #rule({ method, template, body, responseBody, nested, source, checked }: HttpRule): void {
    for (const text of [method, template, body, responseBody]) this.#string(text);
    const flags = [
      [RuleFlag.NESTED, nested],
      [RuleFlag.SOURCE, source !== undefined],
      [RuleFlag.CHECKED, checked !== undefined],
    ] as const;
    this.#flags(0, flags);
    if (source !== undefined) this.#string(source);
    if (checked) this.#template(checked);
  }

  #template({ segments, verb, variables }: Template): void {
    this.#list(segments, (segment) => this.#string(segment));
    this.#string(verb);
    this.#list(variables, ({ field, start, end, multi }) => {
      this.#string(field);
      for (const number of [start, end, Number(multi)]) this.#varint(number);
    });
  }

  #message({ name, fields, oneofs }: Message): void {
    this.#string(name);
    this.#list(oneofs, (oneof) => this.#string(oneof.name));
    this.#list(fields, (field) => this.#field(field, field.oneof ? oneofs.indexOf(field.oneof) : undefined));
    for (const oneof of oneofs) this.#list(oneof.fields, (field) => this.#varint(fields.indexOf(field)));
  }

  #field(field: Field, oneof: number | undefined): void {
    const { name, jsonName, map, defaultValue } = field;
    const flags = [
      [FieldFlag.REPEATED, field.repeated],
      [FieldFlag.PACKED, field.packed],
      [FieldFlag.PRESENCE, field.presence],
      [FieldFlag.REQUIRED, field.required],
      [FieldFlag.UTF8, field.utf8],
      [FieldFlag.ONEOF, oneof !== undefined],
      [FieldFlag.JSON_NAME, jsonName !== name],
      [FieldFlag.MAP, map !== undefined],
      [FieldFlag.DEFAULT, defaultValue !== undefined],
    ] as const;
    this.#flags(field.type, flags);
    this.#string(name);
    this.#varint(field.number);
    if (jsonName !== name) this.#string(jsonName);
    if (oneof !== undefined) this.#varint(oneof);
    if (field.message) this.#varint(this.#messages.of(field.message));
    if (field.enum) this.#varint(this.#enums.of(field.enum));
    if (map) {
      this.#field(map.key, undefined);
      this.#field(map.value, undefined);
    }
    if (defaultValue !== undefined) this.#default(field.type, defaultValue);
  }

  #default(type: Type.Value, value: NonNullable<Field["defaultValue"]>): void {
    if (typeof value === "number") {
      this.#varint(DefaultKind.NUMBER);
      this.#fixed64((view) => view.setFloat64(0, value, true));
    } else if (typeof value === "bigint") {
      const unsigned = type === Type.UINT64 || type === Type.FIXED64;
      this.#varint(unsigned ? DefaultKind.UINT64 : DefaultKind.INT64);
      this.#fixed64((view) => view.setBigUint64(0, BigInt.asUintN(64, value), true));
    } else if (typeof value === "boolean") {
      this.#varint(DefaultKind.BOOLEAN);
      this.#varint(Number(value));
    } else if (typeof value === "string") {
      this.#varint(DefaultKind.STRING);
      this.#string(value);
    } else {
      this.#varint(DefaultKind.BYTES);
      this.#list([...value], (byte) => this.#out.push(byte));
    }
  }

  #enum({ name, closed, values }: Enum): void {
    this.#string(name);
    this.#varint(Number(closed));
    this.#list(values, (value) => {
      this.#string(value.name);
      this.#varint(((value.number << 1) ^ (value.number >> 31)) >>> 0);
    });
  }

  #flags(bits: number, flags: readonly (readonly [flag: number, set: boolean])[]): void {
    this.#varint(flags.reduce((all, [flag, set]) => (set ? all | flag : all), bits));
  }

  #list<T>(items: readonly T[], write: (item: T) => void): void {
    this.#varint(items.length);
    items.forEach(write);
  }

  #string(text: string): void {
    this.#varint(this.#strings.of(text));
  }

  #fixed64(write: (view: DataView) => void): void {
    const view = new DataView(new ArrayBuffer(8));
    write(view);
    this.#out.push(...new Uint8Array(view.buffer));
  }

  /** @param value of 32 bits, unsigned. */
  #varint(value: number): void {
    let rest = value;
    for (; rest > 0x7f; rest >>>= 7) this.#out.push((rest & 0x7f) | 0x80);
    this.#out.push(rest);
  }
}
