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
import { printMessage, printOnly } from "./print-message.ts";
import { Plans } from "./print-plan.ts";
import { finish, IRREGULAR, load, shrink, tape } from "./print-tape.ts";

/** Enough of the stack is left for so many, whatever `maxDepth` allows. */
const MAX_LEVELS = 100;

const plansOf = new WeakMap<CodecContext, Plans>();

/** Both give undefined where the printer gave up. */
export interface Printer {
  decode(wire: Uint8Array, skipped?: Skipped): Uint8Array | undefined;
  /** Of an unset field too. */
  decodeField(wire: Uint8Array, field: Field, skipped?: Skipped): Uint8Array | undefined;
}

/** See `Codec` for what the two functions do. */
export function compilePrinter(message: Message, context: CodecContext): Printer {
  let plans = plansOf.get(context);
  if (!plans) {
    plans = new Plans(context);
    plansOf.set(context, plans);
  }
  const shape = plans.shapeOfMessage(message);
  const levels = Math.min(context.options.maxDepth, MAX_LEVELS);
  const print = (wire: Uint8Array, field?: Field, skipped?: Skipped): Uint8Array | undefined => {
    load(wire, levels);
    try {
      if (field === undefined) printMessage(shape, wire.length);
      else printOnly(shape.plan, field.number, wire.length);
      if (skipped) skipped.unknownFields += tape.unknownFields;
      return finish();
    } catch (error) {
      if (error === IRREGULAR) return undefined;
      throw error;
    } finally {
      shrink();
    }
  };
  return { decode: (wire, skipped) => print(wire, undefined, skipped), decodeField: print };
}
