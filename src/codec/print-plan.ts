/** What the printer knows of a message: made from the Schema and the options when a message is first met. */

import type { Enum, Field, Message } from "../schema/model.ts";
import { specialOf } from "../schema/special.ts";
import * as Type from "../schema/type.ts";
import type { CodecContext } from "./codec.ts";
import { compileCarefulDecoder } from "./decode.ts";
import * as Kind from "./kind.ts";
import { kindOfMessage, kindOfScalar } from "./kind-of.ts";
import { TypesByName } from "./print-type.ts";
import { entrySlotsOf, type Slot, slotsOf } from "./slot.ts";
import { utf8 } from "./utf8.ts";
import * as WireType from "./wire-type.ts";

/** Below these a list is looked into, which is faster than a Map; beyond them a Map. */
const NEAR_TAGS = 1 << 10;
const NEAR_ENUMS = 1 << 8;
/** Bits of a small integer. */
const MAX_ONEOFS = 30;

/** A kind of value: of a field, of an element of a list, of a map's key or value, of a whole message. */
export class Shape {
  /** One of `kind.ts`. */
  readonly kind: number;
  /** Of enums. */
  readonly names: EnumNames | undefined;
  /** Of 64-bit integers: without quotes where it is exact as a double. */
  readonly bare: boolean;
  readonly #compile: (() => Plan) | undefined;
  #plan: Plan | undefined;

  constructor(kind: number, names: EnumNames | undefined, bare: boolean, compile: (() => Plan) | undefined) {
    this.kind = kind;
    this.names = names;
    this.bare = bare;
    this.#compile = compile;
  }

  /** Of a message: made when first met, because messages may hold themselves. */
  get plan(): Plan {
    this.#plan ??= (this.#compile as () => Plan)();
    return this.#plan;
  }
}

export interface PlanField {
  readonly number: number;
  /** Place among the message's fields. */
  readonly index: number;
  /** Comma, name and colon as words of four bytes, little-endian; the last word ends where the key ends. */
  readonly key: Int32Array;
  readonly keyBytes: number;
  readonly shape: Shape;
  /** Of one value. */
  readonly wireType: WireType.Value;
  readonly repeated: boolean;
  /** A list of which records may hold many values. */
  readonly packable: boolean;
  /** Zero is as good as no record. Of a list with presence, which an extension is: to have no element. */
  readonly dropsZero: boolean;
  /** The bit of its oneof, or 0. */
  readonly oneof: number;
  readonly map: PlanMap | undefined;
  /** Key and value as printed when there is no record; undefined where nothing is. Of wrappers: the value alone. */
  readonly unset: Uint8Array | undefined;
}

export interface PlanMap {
  readonly key: Shape;
  readonly keyTag: number;
  /** JSON of a key that is not there. */
  readonly keyUnset: Uint8Array;
  readonly value: Shape;
  readonly valueTag: number;
  /** JSON of a value that is not there, which is rare; undefined for messages. */
  valueUnset(): Uint8Array | undefined;
}

export interface Plan {
  readonly fields: readonly PlanField[];
  /** By tag, which says the wire type too: a list of numbers has two. */
  readonly near: readonly (PlanField | undefined)[];
  readonly far: ReadonlyMap<number, PlanField>;
  readonly emitDefaults: boolean;
  /**
   * Members are noted, to be put in order, once a message of this type was met out of order: the same backend will write
   * the next one. To note those that need it not costs 5 %.
   */
  notes: boolean;
  /** What may lie in an Any. */
  readonly types: TypesByName<Shape>;
  /** For regular.ts, by index of the field; all 0 but while it notes the records of one message. */
  readonly metAt: Int32Array;
}

/** JSON of an enum's values, by number. */
export interface EnumNames {
  readonly near: readonly (Uint8Array | undefined)[];
  readonly far: ReadonlyMap<number, Uint8Array>;
  readonly closed: boolean;
}

const NOTHING = new Uint8Array();

/** The plans of one context. */
export class Plans {
  readonly #context: CodecContext;
  readonly #shapes = new Map<Message, Shape>();
  readonly #names = new Map<Enum, EnumNames>();
  readonly #types: TypesByName<Shape>;

  constructor(context: CodecContext) {
    this.#context = context;
    this.#types = new TypesByName((name) => {
      const message = context.registry.message(name);
      return message && this.shapeOfMessage(message);
    });
  }

  shapeOfMessage(message: Message): Shape {
    let shape = this.#shapes.get(message);
    if (!shape) {
      shape = new Shape(kindOf(message), undefined, false, () => this.#compile(message));
      this.#shapes.set(message, shape);
    }
    return shape;
  }

  #compile(message: Message): Plan {
    const far = new Map<number, PlanField>();
    const fields: PlanField[] = [];
    for (const slot of slotsOf(message).values()) {
      const field = this.#field(message, slot, fields.length);
      fields.push(field);
      far.set(tagOf(slot), field);
      if (slot.packable) far.set(tagOf({ ...slot, wireType: WireType.LEN }), field);
    }
    const nearest = Math.max(-1, ...[...far.keys()].filter((tag) => tag < NEAR_TAGS));
    const near = Array.from({ length: nearest + 1 }, (_, tag) => far.get(tag));
    const { emitDefaults } = this.#context.options;
    const metAt = new Int32Array(fields.length);
    return { fields, near, far, emitDefaults, notes: false, types: this.#types, metAt };
  }

  #field(message: Message, slot: Slot, index: number): PlanField {
    const { emitDefaults, useProtoFieldName } = this.#context.options;
    const { field } = slot;
    const key = utf8.encode(`,${JSON.stringify(useProtoFieldName ? field.name : field.jsonName)}:`);
    return {
      number: field.number,
      index,
      key: wordsOf(key),
      keyBytes: key.length,
      shape: this.#shape(field),
      wireType: slot.wireType,
      repeated: field.repeated,
      packable: slot.packable,
      dropsZero: field.presence ? field.repeated : !emitDefaults,
      oneof: field.oneof ? 1 << message.oneofs.indexOf(field.oneof) : 0,
      map: field.map && this.#map(field.map),
      unset: this.#unsetOf(message, field, key),
    };
  }

  #map({ key, value }: NonNullable<Field["map"]>): PlanMap {
    const slots = entrySlotsOf({ key, value });
    let valueUnset: Uint8Array | undefined;
    return {
      key: new Shape(kindOfScalar(key.type), undefined, false, undefined),
      keyTag: tagOf(slots.get(key.number) as Slot),
      keyUnset: utf8.encode(key.type === Type.STRING ? '""' : key.type === Type.BOOL ? '"false"' : '"0"'),
      value: this.#shape(value),
      valueTag: tagOf(slots.get(value.number) as Slot),
      valueUnset: () => {
        if (!value.message) valueUnset ??= this.#unset(undefined, value);
        return valueUnset;
      },
    };
  }

  #unsetOf(message: Message, field: Field, key: Uint8Array): Uint8Array | undefined {
    if (specialOf(message) === "wrapper") return this.#unset(message, field);
    if (!this.#context.options.emitDefaults || field.presence) return undefined;
    return joined(key, this.#unset(message, field));
  }

  /** As the careful decoder has it: the one place that knows defaults. */
  #unset(message: Message | undefined, field: Field): Uint8Array {
    const holder = message ?? { name: "", fields: [field], oneofs: [] };
    return compileCarefulDecoder(holder, this.#context).decodeField(NOTHING, field);
  }

  #shape(field: Field): Shape {
    // Groups are left to the careful decoder.
    if (field.type === Type.GROUP) return new Shape(Kind.OTHER, undefined, false, undefined);
    if (field.message) return this.shapeOfMessage(field.message);
    const { int64AsNumber } = this.#context.options;
    if (!field.enum) return new Shape(kindOfScalar(field.type), undefined, int64AsNumber, undefined);
    const isNull = field.enum.name === "google.protobuf.NullValue";
    return new Shape(isNull ? Kind.NULL : Kind.ENUM, this.#namesOf(field.enum), false, undefined);
  }

  #namesOf(enumeration: Enum): EnumNames {
    let names = this.#names.get(enumeration);
    if (!names) {
      const { enumAsInteger } = this.#context.options;
      const far = new Map<number, Uint8Array>();
      for (const { name, number } of enumeration.values) {
        // Of aliases the first counts.
        if (!far.has(number)) far.set(number, utf8.encode(enumAsInteger ? String(number) : `"${name}"`));
      }
      const nearest = Math.max(-1, ...[...far.keys()].filter((number) => number < NEAR_ENUMS));
      const near = Array.from({ length: nearest + 1 }, (_, number) => far.get(number));
      names = { near, far, closed: enumeration.closed };
      this.#names.set(enumeration, names);
    }
    return names;
  }
}

function kindOf(message: Message): number {
  const kind = kindOfMessage(message);
  return kind === Kind.MESSAGE && message.oneofs.length > MAX_ONEOFS ? Kind.OTHER : kind;
}

/** At least four bytes, as a comma, two quotes and a colon are. */
function wordsOf(bytes: Uint8Array): Int32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Int32Array.from({ length: Math.ceil(bytes.length / 4) }, (_, i) =>
    view.getInt32(Math.min(i * 4, bytes.length - 4), true),
  );
}

function tagOf({ field, wireType }: Pick<Slot, "field" | "wireType">): number {
  return ((field.number << 3) | wireType) >>> 0;
}

function joined(left: Uint8Array, right: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(left.length + right.length);
  bytes.set(left);
  bytes.set(right, left.length);
  return bytes;
}
