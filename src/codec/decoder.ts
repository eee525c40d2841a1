/**
 * The half of the codec that answers: the printer where it can, if need be of wire put in order; the careful decoder where
 * it cannot.
 */
import type { Field, Message } from "../schema/model.ts";
import type { Codec, CodecContext, Skipped } from "./codec.ts";
import { compileCarefulDecoder } from "./decode.ts";
import { Decoding } from "./decoding.ts";
import { compilePrinter, PrintedParts } from "./print.ts";
import { shrink } from "./print-tape.ts";

/** See `Codec` for what the two functions do. */
export function compileDecoder(message: Message, context: CodecContext): Pick<Codec, "decode" | "decodeField"> {
  const careful = compileCarefulDecoder(message, context);
  const printer = compilePrinter(message, context);
  const run = (wire: Uint8Array, field?: Field, skipped?: Skipped): Uint8Array => {
    try {
      const first = field ? printer.decodeField(wire, field, skipped) : printer.decode(wire, skipped);
      const json = first ?? printer.decodeAgain(wire, field, skipped);
      if (json) return json;
      printer.explain(new Decoding(wire, message, context), field);
      const parts = new PrintedParts(context);
      return field ? careful.decodeField(wire, field, skipped, parts) : careful.decode(wire, skipped, parts);
    } finally {
      shrink();
    }
  };
  return { decode: (wire, skipped) => run(wire, undefined, skipped), decodeField: run };
}
