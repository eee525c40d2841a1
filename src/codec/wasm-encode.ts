/** The encode side of the WebAssembly engine. What a request has bound is put around what the engine wrote. */
import { Code, ConnectError } from "@connectrpc/connect";
import type { Field, Message, Registry } from "../schema/model.ts";
import { specialOf } from "../schema/special.ts";
import * as Type from "../schema/type.ts";
import { MAX_LEVELS } from "../wasm/layout.ts";
import type { Bound, CodecContext, EncodeRequest } from "./codec.ts";
import { equalBytes } from "./equal-bytes.ts";
import type { FastEncoder } from "./fast-encode.ts";
import { currentEngine, hasWasm, type WasmEngine } from "./wasm-engine.ts";
import { WireReader } from "./wire-reader.ts";
import * as WireType from "./wire-type.ts";
import { WireWriter } from "./wire-writer.ts";

/** @returns undefined where there is no WebAssembly, and for messages that are no object of their fields. */
export function compileWasmEncoder(message: Message, { registry, options }: CodecContext): FastEncoder | undefined {
  if (!hasWasm() || specialOf(message) !== undefined) return undefined;
  const levels = Math.min(options.maxDepth, MAX_LEVELS);
  return {
    encode(json) {
      const engine = currentEngine();
      return engine.encode(message, undefined, json, levels, registry) ? engine.finish() : undefined;
    },
    encodeRequest: ({ body, json, bound }) => {
      if (body === undefined || json === undefined || json.length === 0) return undefined;
      return encodeBody(currentEngine(), message, body, json, bound, levels, registry);
    },
  };
}

function encodeBody(
  engine: WasmEngine,
  message: Message,
  body: NonNullable<EncodeRequest["body"]>,
  json: Uint8Array,
  bound: Bound,
  levels: number,
  registry: Registry,
): Uint8Array | undefined {
  const ahead = new WireWriter();
  const behind = new WireWriter();
  if (body === "*") {
    if (!engine.encode(message, undefined, json, levels, registry)) return undefined;
    if (bound.fields.size === 0) return engine.finish();
    return writeMissing(engine, message, behind, bound, levels) ? joined(engine, ahead, behind) : undefined;
  }
  const value = bound.fields.get(body);
  if (value === undefined) {
    if (!engine.encode(message, body, json, levels, registry)) return undefined;
  } else {
    // What is bound below the body field stands inside of its one record.
    if (value.kind !== "message" || !isPlainMessage(body)) return undefined;
    if (!engine.encode(body.message, undefined, json, levels - 1, registry)) return undefined;
    if (!writeMissing(engine, body.message, behind, value.bound, levels - 1)) return undefined;
    ahead.tag(body.number, WireType.LEN);
    ahead.varint(engine.length + behind.length);
  }
  for (const field of bound.fields.keys()) {
    if (field !== body && !writeField(behind, field, bound, levels)) return undefined;
  }
  return joined(engine, ahead, behind);
}

/**
 * Writes the bound values that the JSON of the message did not have.
 *
 * @returns false where it had another, or what cannot be compared here.
 */
function writeMissing(engine: WasmEngine, message: Message, writer: WireWriter, bound: Bound, levels: number): boolean {
  for (const [field, value] of bound.fields) {
    if (!engine.hadField(message.fields.indexOf(field))) {
      if (!writeField(writer, field, bound, levels)) return false;
    } else if (value.kind !== "record" || field.repeated || !hasRecord(engine.written(), value.wire)) {
      return false;
    }
  }
  return true;
}

/**
 * Writes what is bound to one field.
 *
 * @param levels of messages that there may be, that of the field included.
 * @returns false for what is not for here: oneofs, and messages that are no plain ones.
 */
function writeField(writer: WireWriter, field: Field, { fields }: Bound, levels: number): boolean {
  const value = fields.get(field);
  if (value === undefined || field.oneof !== undefined) return false;
  if (value.kind === "record") {
    writer.raw(value.wire);
    return true;
  }
  if (levels < 2 || !isPlainMessage(field)) return false;
  writer.tag(field.number, WireType.LEN);
  const start = writer.begin();
  for (const inner of value.bound.fields.keys()) {
    if (!writeField(writer, inner, value.bound, levels - 1)) return false;
  }
  writer.end(start);
  return true;
}

/** One message that is an object of its fields, and length-delimited. */
function isPlainMessage(field: Field): field is Field & { readonly message: Message } {
  const { message, repeated, type } = field;
  return message !== undefined && !repeated && type !== Type.GROUP && specialOf(message) === undefined;
}

/** Whether one of the records of a message, which is known to be right, is this one. */
function hasRecord(wire: Uint8Array, record: Uint8Array): boolean {
  const reader = new WireReader(wire, (reason) => new ConnectError(reason, Code.Internal));
  for (let start = 0; !reader.done; start = reader.contentEnd) {
    // There are no groups to skip.
    reader.skip(reader.tag(), 0);
    if (equalBytes(wire.subarray(start, reader.contentEnd), record)) return true;
  }
  return false;
}

function joined(engine: WasmEngine, ahead: WireWriter, behind: WireWriter): Uint8Array {
  const written = engine.written();
  const wire = new Uint8Array(ahead.length + written.length + behind.length);
  wire.set(ahead.since(0));
  wire.set(written, ahead.length);
  wire.set(behind.since(0), ahead.length + written.length);
  return wire;
}
