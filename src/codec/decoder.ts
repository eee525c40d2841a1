/** The half of the codec that answers: the printer where it can, the careful decoder where it cannot. */
import type { Message } from "../schema/model.ts";
import type { Codec, CodecContext } from "./codec.ts";
import { compileCarefulDecoder } from "./decode.ts";
import { compilePrinter, PrintedParts } from "./print.ts";
import { shrink } from "./print-tape.ts";

/** See `Codec` for what the two functions do. */
export function compileDecoder(message: Message, context: CodecContext): Pick<Codec, "decode" | "decodeField"> {
  const careful = compileCarefulDecoder(message, context);
  const printer = compilePrinter(message, context);
  return {
    decode(wire, skipped) {
      try {
        return printer.decode(wire, skipped) ?? careful.decode(wire, skipped, new PrintedParts(context));
      } finally {
        shrink();
      }
    },
    decodeField(wire, field, skipped) {
      try {
        const json = printer.decodeField(wire, field, skipped);
        return json ?? careful.decodeField(wire, field, skipped, new PrintedParts(context));
      } finally {
        shrink();
      }
    },
  };
}
