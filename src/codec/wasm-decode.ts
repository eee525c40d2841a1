/** The decode side of the WebAssembly engine. */
import type { Message } from "../schema/model.ts";
import { EMIT_DEFAULTS, ENUM_AS_INTEGER, INT64_AS_NUMBER, MAX_LEVELS, USE_PROTO_FIELD_NAME } from "../wasm/layout.ts";
import type { CodecContext, JsonOptions, Skipped } from "./codec.ts";
import type { Printer } from "./print.ts";
import { currentEngine, hasWasm, MAX_OUTPUT } from "./wasm-engine.ts";

/** @returns undefined where there is no WebAssembly. */
export function compileWasmPrinter(
  message: Message,
  { registry, options }: CodecContext,
): Pick<Printer, "decode" | "decodeField"> | undefined {
  if (!hasWasm()) return undefined;
  const levels = Math.min(options.maxDepth, MAX_LEVELS);
  const maxBytes = Math.min(options.maxJsonBytes ?? MAX_OUTPUT, MAX_OUTPUT);
  const flags = flagsOf(options);
  function print(wire: Uint8Array, number: number, skipped?: Skipped): Uint8Array | undefined {
    const engine = currentEngine();
    if (!engine.decode(message, number, wire, levels, flags, maxBytes, registry)) return undefined;
    if (skipped) skipped.unknownFields += engine.unknownFields;
    return engine.finish();
  }
  return {
    decode: (wire, skipped) => print(wire, 0, skipped),
    decodeField: (wire, field, skipped) => print(wire, field.number, skipped),
  };
}

function flagsOf({ emitDefaults, useProtoFieldName, enumAsInteger, int64AsNumber }: JsonOptions): number {
  return (
    (emitDefaults ? EMIT_DEFAULTS : 0) |
    (useProtoFieldName ? USE_PROTO_FIELD_NAME : 0) |
    (enumAsInteger ? ENUM_AS_INTEGER : 0) |
    (int64AsNumber ? INT64_AS_NUMBER : 0)
  );
}
