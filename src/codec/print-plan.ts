/** What the printer knows of a message: made from the Schema and the options when a message is first met. */
import { type Enum, type Field, type Message, Type } from "../schema/model.ts";
import { specialOf } from "../schema/special.ts";
import type { CodecContext } from "./codec.ts";
import { compileCarefulDecoder } from "./decode.ts";
import { TypesByName } from "./print-type.ts";
import { entrySlotsOf, type Slot, slotsOf } from "./slot.ts";
import { WireType } from "./wire-writer.ts";

/** How a value is read and printed. Small integers, for a jump table. */
export const Kind = {
  STRING: 0,
  INT32: 1,
  INT64: 2,
  BOOL: 3,
  DOUBLE: 4,
  ENUM: 5,
  UINT64: 6,
  UINT32: 7,
  BYTES: 8,
  FLOAT: 9,
  SINT32: 10,
  SINT64: 11,
  FIXED32: 12,
  SFIXED32: 13,
  FIXED64: 14,
  SFIXED64: 15,
  NULL: 16,
  /** From here on: messages. */
  OBJECT: 17,
  TIMESTAMP: 18,
  DURATION: 19,
  WRAPPER: 20,
  STRUCT: 21,
  VALUE: 22,
  LIST_VALUE: 23,
  FIELD_MASK: 24,
  ANY: 25,
  /** Messages that the printer leaves alone. */
  OTHER: 26,
} as const;
export type Kind = (typeof Kind)[keyof typeof Kind];

const scalarKinds: ReadonlyMap<Type, Kind> = new Map<Type, Kind>([
  [Type.DOUBLE, Kind.DOUBLE],
  [Type.FLOAT, Kind.FLOAT],
  [Type.INT64, Kind.INT64],
  [Type.UINT64, Kind.UINT64],
  [Type.INT32, Kind.INT32],
  [Type.FIXED64, Kind.FIXED64],
  [Type.FIXED32, Kind.FIXED32],
  [Type.BOOL, Kind.BOOL],
  [Type.STRING, Kind.STRING],
  [Type.BYTES, Kind.BYTES],
  [Type.UINT32, Kind.UINT32],
  [Type.SFIXED32, Kind.SFIXED32],
  [Type.SFIXED64, Kind.SFIXED64],
  [Type.SINT32, Kind.SINT32],
  [Type.SINT64, Kind.SINT64],
]);

const messageKinds: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ["google.protobuf.Timestamp", Kind.TIMESTAMP],
  ["google.protobuf.Duration", Kind.DURATION],
  ["google.protobuf.Struct", Kind.STRUCT],
  ["google.protobuf.Value", Kind.VALUE],
  ["google.protobuf.ListValue", Kind.LIST_VALUE],
  ["google.protobuf.FieldMask", Kind.FIELD_MASK],
  ["google.protobuf.Any", Kind.ANY],
]);

/** Below these a list is looked into, which is faster than a Map; beyond them a Map. */
const NEAR_TAGS = 1 << 10;
const NEAR_ENUMS = 1 << 8;
/** Bits of a small integer. */
const MAX_ONEOFS = 30;

/** A kind of value: of a field, of an element of a list, of a map's key or value, of a whole message. */
export class Shape {
  readonly kind: Kind;
  /** Of enums. */
  readonly names: EnumNames | undefined;
  /** Of 64-bit integers: without quotes where it is exact as a double. */
  readonly bare: boolean;
  readonly #compile: (() => Plan) | undefined;
  #plan: Plan | undefined;

  constructor(kind: Kind, names: EnumNames | undefined, bare: boolean, compile: (() => Plan) | undefined) {
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
}

/** JSON of an enum's values, by number. */
export interface EnumNames {
  readonly near: readonly (Uint8Array | undefined)[];
  readonly far: ReadonlyMap<number, Uint8Array>;
  readonly closed: boolean;
}

const encoder = new TextEncoder();
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
      shape = new Shape(kindOfMessage(message), undefined, false, () => this.#compile(message));
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
      // Groups are left to the careful decoder: the printer gives up on the wire type when it comes to skip them.
      if (slot.wireType !== WireType.SGROUP) far.set(tagOf(slot), field);
      if (slot.packable) far.set(tagOf({ ...slot, wireType: WireType.LEN }), field);
    }
    const nearest = Math.max(-1, ...[...far.keys()].filter((tag) => tag < NEAR_TAGS));
    const near = Array.from({ length: nearest + 1 }, (_, tag) => far.get(tag));
    const { emitDefaults } = this.#context.options;
    return { fields, near, far, emitDefaults, notes: false, types: this.#types };
  }

  #field(message: Message, slot: Slot, index: number): PlanField {
    const { emitDefaults, useProtoFieldName } = this.#context.options;
    const { field } = slot;
    const key = encoder.encode(`,${JSON.stringify(useProtoFieldName ? field.name : field.jsonName)}:`);
    return {
      number: field.number,
      index,
      key: wordsOf(key),
      keyBytes: key.length,
      shape: this.#shape(field),
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
      key: new Shape(scalarKindOf(key), undefined, false, undefined),
      keyTag: tagOf(slots.get(key.number) as Slot),
      keyUnset: encoder.encode(key.type === Type.STRING ? '""' : key.type === Type.BOOL ? '"false"' : '"0"'),
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
    if (field.message) return this.shapeOfMessage(field.message);
    const { int64AsNumber } = this.#context.options;
    if (!field.enum) return new Shape(scalarKindOf(field), undefined, int64AsNumber, undefined);
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
        if (!far.has(number)) far.set(number, encoder.encode(enumAsInteger ? String(number) : `"${name}"`));
      }
      const nearest = Math.max(-1, ...[...far.keys()].filter((number) => number < NEAR_ENUMS));
      const near = Array.from({ length: nearest + 1 }, (_, number) => far.get(number));
      names = { near, far, closed: enumeration.closed };
      this.#names.set(enumeration, names);
    }
    return names;
  }
}

function scalarKindOf({ type }: Field): Kind {
  return scalarKinds.get(type) ?? Kind.OTHER;
}

function kindOfMessage(message: Message): Kind {
  const special = specialOf(message);
  if (special === "wrapper") return Kind.WRAPPER;
  if (special) return messageKinds.get(message.name) ?? Kind.OTHER;
  return message.oneofs.length > MAX_ONEOFS ? Kind.OTHER : Kind.OBJECT;
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
