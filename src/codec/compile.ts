/** Message of the Schema → codec. */
import type { Message } from "../schema/model.ts";
import type { Codec, CodecContext, CompileCodec } from "./codec.ts";
import { compileDecoder } from "./decoder.ts";
import { compileEncoder } from "./encode.ts";

/** By identity, so that a codec dies with its context and its schema. */
const codecs = new WeakMap<CodecContext, WeakMap<Message, Codec>>();

/** @returns always the same codec for the same message in the same context. */
export const compileCodec: CompileCodec = (message, context) => {
  let known = codecs.get(context);
  if (known === undefined) {
    known = new WeakMap();
    codecs.set(context, known);
  }
  let codec = known.get(message);
  if (codec === undefined) {
    codec = { message, ...compileEncoder(message, context), ...compileDecoder(message, context) };
    known.set(message, codec);
  }
  return codec;
};
