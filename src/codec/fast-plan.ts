/** Messages as the fast encoder needs them: flat records, made once a message, when its JSON is first read. */

import { namedFields } from "../schema/lookup.ts";
import { type Field, type Message, Type } from "../schema/model.ts";
import { type Special, specialOf } from "../schema/special.ts";
import { type Name, NameTable } from "./fast-name.ts";
import { scalarOf } from "./scalar.ts";
import { wrapped } from "./text-content.ts";
import { WireType } from "./wire-writer.ts";

/** What one value is. Small numbers, so that a switch over them is a jump. */
export const Kind = {
  STRING: 0,
  BYTES: 1,
  BOOL: 2,
  INT32: 3,
  INT64: 4,
  UINT32: 5,
  UINT64: 6,
  SINT32: 7,
  SINT64: 8,
  FIXED32: 9,
  FIXED64: 10,
  SFIXED32: 11,
  SFIXED64: 12,
  FLOAT: 13,
  DOUBLE: 14,
  ENUM: 15,
  MESSAGE: 16,
  GROUP: 17,
  WRAPPER: 18,
  TIMESTAMP: 19,
  DURATION: 20,
  STRUCT: 21,
  VALUE: 22,
  LIST_VALUE: 23,
  /** Left to the slow encoder. */
  OTHER: 24,
} as const;
export type Kind = (typeof Kind)[keyof typeof Kind];

export const Shape = { SINGULAR: 0, LIST: 1, PACKED: 2, MAP: 3 } as const;
export type Shape = (typeof Shape)[keyof typeof Shape];

const SCALAR_KINDS: ReadonlyMap<Type, Kind> = new Map<Type, Kind>([
  [Type.STRING, Kind.STRING],
  [Type.BYTES, Kind.BYTES],
  [Type.BOOL, Kind.BOOL],
  [Type.INT32, Kind.INT32],
  [Type.INT64, Kind.INT64],
  [Type.UINT32, Kind.UINT32],
  [Type.UINT64, Kind.UINT64],
  [Type.SINT32, Kind.SINT32],
  [Type.SINT64, Kind.SINT64],
  [Type.FIXED32, Kind.FIXED32],
  [Type.FIXED64, Kind.FIXED64],
  [Type.SFIXED32, Kind.SFIXED32],
  [Type.SFIXED64, Kind.SFIXED64],
  [Type.FLOAT, Kind.FLOAT],
  [Type.DOUBLE, Kind.DOUBLE],
]);

const SPECIAL_KINDS: Readonly<Record<Special, Kind>> = {
  wrapper: Kind.WRAPPER,
  text: Kind.OTHER,
  struct: Kind.STRUCT,
  value: Kind.VALUE,
  list: Kind.LIST_VALUE,
  any: Kind.OTHER,
};

const NO_BIT = -1;

export class FieldPlan {
  readonly field: Field;
  readonly kind: Kind;
  readonly shape: Shape;
  /** As on the wire. Lists of numbers: of the packed record, when packed. */
  readonly tag: number;
  /** Groups: the tag that ends one. */
  readonly endTag: number;
  /** Its bit among the fields of the message that were seen, and that of its oneof, or -1. */
  readonly bit: number;
  readonly oneofBit: number;
  /** A zero is written, because it differs from unset. */
  readonly keepsZero: boolean;
  /** Enums: names to numbers. */
  readonly names: NameTable<number> | undefined;
  /** Wrappers: what is wrapped. Maps: the value; `key` is the other one. */
  readonly inner: FieldPlan | undefined;
  readonly key: FieldPlan | undefined;
  /** How many bytes the length of the last record took: a guess for the next, so that content seldom moves. */
  lengthBytes = 1;
  #message: MessagePlan | undefined;

  constructor(field: Field, bit: number, oneofBit: number) {
    this.field = field;
    this.bit = bit;
    this.oneofBit = oneofBit;
    this.kind = field.map ? Kind.MESSAGE : kindOf(field);
    this.shape = field.map ? Shape.MAP : !field.repeated ? Shape.SINGULAR : field.packed ? Shape.PACKED : Shape.LIST;
    const isGroup = field.type === Type.GROUP;
    const own = isGroup ? WireType.SGROUP : field.message || field.map ? WireType.LEN : scalarOf(field).wireType;
    this.tag = tagOf(field, field.packed ? WireType.LEN : own);
    this.endTag = tagOf(field, WireType.EGROUP);
    this.keepsZero = field.presence;
    this.names = field.enum && new NameTable(field.enum.values.map(({ name, number }) => [name, number] as const));
    this.key = field.map && new FieldPlan(field.map.key, NO_BIT, NO_BIT);
    const inner = field.map
      ? field.map.value
      : this.kind === Kind.WRAPPER
        ? wrapped(field.message as Message)
        : undefined;
    this.inner = inner && new FieldPlan(inner, NO_BIT, NO_BIT);
  }

  /** The plan of a MESSAGE or GROUP. Not made before it is wanted: messages may hold one another. */
  get message(): MessagePlan {
    this.#message ??= planOf(this.field.message as Message);
    return this.#message;
  }
}

export class MessagePlan {
  readonly table: NameTable<FieldPlan>;
  readonly byField: ReadonlyMap<Field, FieldPlan>;
  /** Words of 32 bits that hold the bits of fields and oneofs. */
  readonly words: number;
  /** The key that the last object began with. */
  readonly start: { next: Name<FieldPlan> | undefined } = { next: undefined };

  constructor(message: Message) {
    const { fields, oneofs } = message;
    const plans = fields.map((field, i) => {
      const oneofBit = field.oneof ? fields.length + oneofs.indexOf(field.oneof) : NO_BIT;
      return [field, new FieldPlan(field, i, oneofBit)] as const;
    });
    this.byField = new Map(plans);
    this.words = (fields.length + oneofs.length + 31) >> 5;
    this.table = new NameTable(
      [...new Map(namedFields(message))].map(([key, field]) => [key, this.byField.get(field) as FieldPlan] as const),
    );
  }
}

const plans = new WeakMap<Message, MessagePlan>();

/** @param message one that is an object of its fields. */
export function planOf(message: Message): MessagePlan {
  let plan = plans.get(message);
  if (plan === undefined) {
    plan = new MessagePlan(message);
    plans.set(message, plan);
  }
  return plan;
}

function kindOf(field: Field): Kind {
  if (field.enum) return field.enum.name === "google.protobuf.NullValue" ? Kind.OTHER : Kind.ENUM;
  if (!field.message) return SCALAR_KINDS.get(field.type) ?? Kind.OTHER;
  const special = specialOf(field.message);
  if (special === undefined) return field.type === Type.GROUP ? Kind.GROUP : Kind.MESSAGE;
  if (field.type === Type.GROUP) return Kind.OTHER;
  if (field.message.name === "google.protobuf.Timestamp") return Kind.TIMESTAMP;
  if (field.message.name === "google.protobuf.Duration") return Kind.DURATION;
  return SPECIAL_KINDS[special];
}

function tagOf(field: Field, wireType: WireType): number {
  return ((field.number << 3) | wireType) >>> 0;
}
