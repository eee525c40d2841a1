/** The encode side of a codec: JSON of a message → wire, and a whole REST request → wire. Fast where that is possible. */
import type { Message } from "../schema/model.ts";
import type { Codec, CodecContext } from "./codec.ts";
import { encodeRequestSlow, encodeSlow } from "./encode-slow.ts";
import { compileFastEncoder } from "./fast-encode.ts";

export type Encoder = Pick<Codec, "encode" | "encodeRequest">;

export function compileEncoder(message: Message, context: CodecContext): Encoder {
  const fast = compileFastEncoder(message, context.options.maxDepth);
  return {
    // The fast encoder skips nothing: it gives up.
    encode(json, skipped) {
      return fast?.encode(json) ?? encodeSlow(message, context, json, skipped);
    },
    encodeRequest(request, skipped) {
      const wire = fast?.encodeRequest(request);
      return wire ? { wire } : encodeRequestSlow(message, context, request, skipped);
    },
  };
}
