/** The half of the codec that answers: the printer where it can, if need be of wire put in order; the careful decoder where it cannot. */
import type { Message } from "../schema/model.ts";
import type { Codec, CodecContext } from "./codec.ts";
import { compileCarefulDecoder } from "./decode.ts";
import { Decoding } from "./decoding.ts";
import { compilePrinter, PrintedParts } from "./print.ts";
import { shrink } from "./print-tape.ts";

/** See `Codec` for what the two functions do. */
export function compileDecoder(message: Message, context: CodecContext): Pick<Codec, "decode" | "decodeField"> {
  const careful = compileCarefulDecoder(message, context);
  const printer = compilePrinter(message, context);
  return {
    decode(wire, skipped) {
      try {
        const json = printer.decode(wire, skipped) ?? printer.decodeAgain(wire, undefined, skipped);
        if (json) return json;
        printer.explain(new Decoding(wire, message, context));
        return careful.decode(wire, skipped, new PrintedParts(context));
      } finally {
        shrink();
      }
    },
    decodeField(wire, field, skipped) {
      try {
        const json = printer.decodeField(wire, field, skipped) ?? printer.decodeAgain(wire, field, skipped);
        if (json) return json;
        printer.explain(new Decoding(wire, message, context), field);
        return careful.decodeField(wire, field, skipped, new PrintedParts(context));
      } finally {
        shrink();
      }
    },
  };
}
