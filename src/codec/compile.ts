/** Message of the Schema → codec. */
import type { Message } from "../schema/model.ts";
import type { Codec, CodecContext, CompileCodec } from "./codec.ts";
import { compileDecoder } from "./decoder.ts";
import { compileEncoder } from "./encode.ts";
import { compileWasmPrinter } from "./wasm-decode.ts";
import { compileWasmEncoder } from "./wasm-encode.ts";

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
    codec = compileWasmCodec(message, context);
    known.set(message, codec);
  }
  return codec;
};

/** Without WebAssembly. */
export const compileScriptCodec: CompileCodec = (message, context) => ({
  message,
  ...compileEncoder(message, context),
  ...compileDecoder(message, context),
});

/** WebAssembly first. What that gives up is done without it; where there is none, all is. */
function compileWasmCodec(message: Message, context: CodecContext): Codec {
  const printer = compileWasmPrinter(message, context);
  if (printer === undefined) return compileScriptCodec(message, context);
  const encoder = compileWasmEncoder(message, context);
  let compiled: Codec | undefined;
  /** Many isolates never need it. */
  function script(): Codec {
    compiled ??= compileScriptCodec(message, context);
    return compiled;
  }
  return {
    message,
    encode: (json, skipped) => encoder?.encode(json) ?? script().encode(json, skipped),
    encodeRequest(request, skipped) {
      const isPlain = !request.mask && !request.bodyWire && !request.above;
      const wire = isPlain ? encoder?.encodeRequest(request) : undefined;
      return wire ? { wire } : script().encodeRequest(request, skipped);
    },
    decode: (wire, skipped) => printer.decode(wire, skipped) ?? script().decode(wire, skipped),
    decodeField: (wire, field, skipped) =>
      printer.decodeField(wire, field, skipped) ?? script().decodeField(wire, field, skipped),
  };
}
