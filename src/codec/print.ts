/**
 * Wire to JSON in one pass that prints as it reads: for wire as common encoders write it, all records of a field
 * together, and only one of a field that is no list or map. Wherever a record could change what was printed before, and
 * wherever something is wrong, it gives up, and the careful decoder has the message from the start. What it does print
 * is, byte for byte, what that one would have.
 *
 * Measured against @bufbuild/protobuf by `npm run bench -- codec`.
 */
import type { Field, Message } from "../schema/model.ts";
import type { CodecContext, Skipped } from "./codec.ts";
import { explainFault } from "./decode-fault.ts";
import type { Decoding, Part, Parts } from "./decoding.ts";
import * as Kind from "./kind.ts";
import { printMessage, printOnly } from "./print-message.ts";
import { Plans } from "./print-plan.ts";
import { begin, finish, IRREGULAR, load, MAX_LEVELS, printedSoFar, shrinkJson, tape, WRONG } from "./print-tape.ts";
import { regularWire } from "./regular.ts";

const plansOf = new WeakMap<CodecContext, Plans>();

/** All give undefined where the printer gave up; the wire stays loaded then, for what comes next. */
export interface Printer {
  decode(wire: Uint8Array, skipped?: Skipped): Uint8Array | undefined;
  /** Of an unset field too. */
  decodeField(wire: Uint8Array, field: Field, skipped?: Skipped): Uint8Array | undefined;
  /** The wire that was given up last, put in order. @param field the only one that is wanted. Default: all. */
  decodeAgain(wire: Uint8Array, field?: Field, skipped?: Skipped): Uint8Array | undefined;
  /**
   * Of the wire that was given up last.
   *
   * @param run of the careful decoder, at its beginning.
   * @throws ConnectError as the careful decoder does, where that is known to be right without a look at the rest.
   */
  explain(run: Decoding, only?: Field): void;
}

/** See `Codec` for what the two functions do. */
export function compilePrinter(message: Message, context: CodecContext): Printer {
  const shape = plansFor(context).shapeOfMessage(message);
  const levels = Math.min(context.options.maxDepth, MAX_LEVELS);
  const print = (wire: Uint8Array, field?: Field, skipped?: Skipped): Uint8Array | undefined => {
    load(wire, levels, context.options.maxJsonBytes);
    try {
      if (field === undefined) printMessage(shape, wire.length);
      else printOnly(shape.plan, field.number, wire.length);
      if (skipped) skipped.unknownFields += tape.unknownFields;
      return finish();
    } catch (error) {
      shrinkJson();
      if (error === WRONG) tape.wrongAt = tape.at;
      return giveUp(error);
    }
  };
  const printAgain = (wire: Uint8Array, field?: Field, skipped?: Skipped): Uint8Array | undefined => {
    if (tape.wrongAt >= 0) return undefined;
    try {
      const regular = regularWire(shape, wire.length, levels, field?.number);
      const json = print(regular.wire, field, skipped);
      if (json && skipped) skipped.unknownFields += regular.unknownFields;
      if (json) return json;
    } catch (error) {
      giveUp(error);
    }
    // What is wrong with other wire is nothing that could be told.
    load(wire, levels, context.options.maxJsonBytes);
    tape.opened.fill(-1);
    return undefined;
  };
  return {
    decode: (wire, skipped) => print(wire, undefined, skipped),
    decodeField: print,
    decodeAgain: printAgain,
    explain(run, only) {
      if (tape.wrongAt >= 0) explainFault(run, message, shape, only);
    },
  };
}

/** To give up costs microseconds: once for so many bytes. */
const BYTES_PER_TRY = 256;

/**
 * One message of the wire that was loaded last, and given up as a whole: one thing out of the ordinary should not make a
 * large message slow. No byte is read much oftener than twice for it.
 */
export class PrintedParts implements Parts {
  readonly #plans: Plans;
  #failures = 0;

  constructor(context: CodecContext) {
    this.#plans = plansFor(context);
  }

  print(message: Message, start: number, end: number, levels: number): Part | undefined {
    const shape = this.#plans.shapeOfMessage(message);
    if (shape.kind === Kind.OTHER || levels > MAX_LEVELS) return undefined;
    if (tape.opened[levels - 1] === start || this.#failures * BYTES_PER_TRY > start) return undefined;
    begin(start, levels);
    try {
      printMessage(shape, end);
      return { json: printedSoFar(), unknownFields: tape.unknownFields };
    } catch (error) {
      this.#failures++;
      return giveUp(error);
    }
  }
}

function plansFor(context: CodecContext): Plans {
  let plans = plansOf.get(context);
  if (!plans) {
    plans = new Plans(context);
    plansOf.set(context, plans);
  }
  return plans;
}

function giveUp(error: unknown): undefined {
  if (error !== IRREGULAR && error !== WRONG) throw error;
  return undefined;
}
