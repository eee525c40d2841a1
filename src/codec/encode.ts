/** The encode side of a codec: JSON of a message → wire, and a whole REST request → wire. Fast where that is possible. */
import type { Message } from "../schema/model.ts";
import type { Codec, CodecContext } from "./codec.ts";
import { encodeRequestSlow, encodeSlow } from "./encode-slow.ts";
import { compileFastEncoder } from "./fast-encode.ts";

export type Encoder = Pick<Codec, "encode" | "encodeRequest">;

export function compileEncoder(message: Message, context: CodecContext): Encoder {
  const fast = compileFastEncoder(message, context.options.maxDepth);
  return {
    encode(json) {
      return fast?.encode(json) ?? encodeSlow(message, context, json);
    },
    encodeRequest(request) {
      const wire = fast?.encodeRequest(request);
      return wire ? { wire } : encodeRequestSlow(message, context, request);
    },
  };
}
