/** Messages as the fast encoder needs them: flat records, made once a message, when its JSON is first read. */

import { namedFields } from "../schema/lookup.ts";
import type { Field, Message } from "../schema/model.ts";
import * as Type from "../schema/type.ts";
import { type Name, NameTable } from "./fast-name.ts";
import * as Kind from "./kind.ts";
import { kindOfMessage, kindOfScalar } from "./kind-of.ts";
import { scalarOf } from "./scalar.ts";
import * as Shape from "./shape.ts";
import { wrapped } from "./text-content.ts";
import * as WireType from "./wire-type.ts";

const NO_BIT = -1;

export class FieldPlan {
  readonly field: Field;
  /** One of `kind.ts`. */
  readonly kind: number;
  /** One of `shape.ts`. */
  readonly shape: number;
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

  /** Of the message in an Any. @param value the Any's field of that name. */
  static inAny(message: Message, value: Field): FieldPlan {
    return new FieldPlan({ ...value, type: Type.MESSAGE, message }, NO_BIT, NO_BIT);
  }

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

function kindOf(field: Field): number {
  if (field.enum) return field.enum.name === "google.protobuf.NullValue" ? Kind.OTHER : Kind.ENUM;
  if (!field.message) return kindOfScalar(field.type);
  const kind = kindOfMessage(field.message);
  if (field.type !== Type.GROUP) return kind;
  return kind === Kind.MESSAGE ? Kind.GROUP : Kind.OTHER;
}

function tagOf(field: Field, wireType: WireType.Value): number {
  return ((field.number << 3) | wireType) >>> 0;
}
