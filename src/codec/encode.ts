/** The encode side of a codec: JSON of a message → wire, and a whole REST request → wire. Fast where that is possible. */
import type { Message } from "../schema/model.ts";
import type { Codec, CodecContext } from "./codec.ts";
import { encodeRequestSlow, encodeSlow } from "./encode-slow.ts";
import { compileFastEncoder, FastParts } from "./fast-encode.ts";
import { dropLarge } from "./fast-io.ts";

export type Encoder = Pick<Codec, "encode" | "encodeRequest">;

export function compileEncoder(message: Message, context: CodecContext): Encoder {
  const fast = compileFastEncoder(message, context);
  return {
    encode(json, skipped) {
      if (fast === undefined) return encodeSlow(message, context, json, skipped);
      try {
        return fast.encode(json, skipped) ?? encodeSlow(message, context, json, skipped, new FastParts());
      } finally {
        dropLarge();
      }
    },
    encodeRequest(request, skipped) {
      if (fast === undefined || request.mask || request.bodyWire || request.above) {
        return encodeRequestSlow(message, context, request, skipped);
      }
      try {
        const wire = fast.encodeRequest(request, skipped);
        return wire ? { wire } : encodeRequestSlow(message, context, request, skipped, new FastParts());
      } finally {
        dropLarge();
      }
    },
  };
}
