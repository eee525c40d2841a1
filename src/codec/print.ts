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
import type { Part, Parts } from "./decoding.ts";
import * as Kind from "./kind.ts";
import { printMessage, printOnly } from "./print-message.ts";
import { Plans } from "./print-plan.ts";
import { begin, finish, IRREGULAR, load, MAX_LEVELS, printedSoFar, shrinkJson, tape } from "./print-tape.ts";

const plansOf = new WeakMap<CodecContext, Plans>();

/** Both give undefined where the printer gave up; the wire stays loaded then, for `PrintedParts`. */
export interface Printer {
  decode(wire: Uint8Array, skipped?: Skipped): Uint8Array | undefined;
  /** Of an unset field too. */
  decodeField(wire: Uint8Array, field: Field, skipped?: Skipped): Uint8Array | undefined;
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
      return giveUp(error);
    }
  };
  return { decode: (wire, skipped) => print(wire, undefined, skipped), decodeField: print };
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
  if (error !== IRREGULAR) throw error;
  return undefined;
}
