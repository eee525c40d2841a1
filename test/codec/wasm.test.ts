/** The WebAssembly engine: what it writes is what the TypeScript engine writes, whatever lies in its memory. */
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CodecContext, EncodeRequest, JsonOptions } from "../../src/codec/codec.ts";
import { compileScriptCodec } from "../../src/codec/compile.ts";
import { compileWasmPrinter } from "../../src/codec/wasm-decode.ts";
import { compileWasmEncoder } from "../../src/codec/wasm-encode.ts";
import { currentEngine, useWasm } from "../../src/codec/wasm-engine.ts";
import type { Message } from "../../src/schema/model.ts";
import { messageOf } from "../proto.ts";
import { wasmModule } from "../wasm.ts";
import { bind } from "./bind.ts";
import { damage, jsonDamage, wireDamage } from "./damage.ts";
import { jsonOf } from "./json-arbitrary.ts";
import { contextWith, fieldOf, schema, utf8 } from "./kinds.ts";
import { contextOf, field as kitchenField, kitchenMessage, peerMessage } from "./kitchen.ts";
import { messageWire } from "./wire-arbitrary.ts";

useWasm(wasmModule);

const MAX_DEPTH = 100;
const context = contextWith({ maxDepth: MAX_DEPTH });
const kinds = messageOf(schema, "k.Kinds");

/** Fills the memory with what calls of others had, of these bytes alone, in and out. */
function leaveBehind(byte: number): void {
  const text = new Uint8Array(3000).fill(byte);
  const json = Uint8Array.from([...utf8('{"fString":"'), ...text, ...utf8('"}')]);
  const engine = currentEngine();
  expect(engine.encode(kinds, undefined, json, MAX_DEPTH)).toBe(true);
  expect(engine.decode(kinds, 0, engine.finish(), MAX_DEPTH, 0)).toBe(true);
}

/** Those of names, of numbers, and of neither. */
const OTHERS = [0x41, 0x31, 0x7f];

/** What the call writes is the same whatever was left behind. */
function run(call: () => Uint8Array | undefined): Uint8Array | undefined {
  const outputs = OTHERS.map((byte) => {
    leaveBehind(byte);
    return hex(call());
  });
  expect(new Set(outputs).size, outputs.join(" / ")).toBe(1);
  return call();
}

function hex(bytes: Uint8Array | undefined): string | undefined {
  return bytes && Buffer.from(bytes).toString("hex");
}

function attempt(run: () => Uint8Array): Uint8Array | undefined {
  try {
    return run();
  } catch (error) {
    if (error instanceof ConnectError) return undefined;
    throw error;
  }
}

/** @returns whether the engine took it. Where the other one refuses, it has to give up. */
function encodesAlike(message: Message, context: CodecContext, json: Uint8Array): boolean {
  const wasm = compileWasmEncoder(message, context);
  const wire = run(() => wasm?.encode(json));
  if (wire === undefined) return false;
  const script = attempt(() => compileScriptCodec(message, context).encode(json));
  expect(hex(wire), new TextDecoder().decode(json)).toBe(hex(script));
  return true;
}

const toText = (json: Uint8Array): string => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(json);

/** The same for the way back, what is counted as unknown included. */
function decodesAlike(message: Message, context: CodecContext, wire: Uint8Array): boolean {
  const wasm = compileWasmPrinter(message, context);
  const [ours, its] = [{ unknownFields: 0 }, { unknownFields: 0 }];
  const json = run(() => wasm?.decode(wire));
  if (json === undefined) return false;
  wasm?.decode(wire, ours);
  const script = attempt(() => compileScriptCodec(message, context).decode(wire, its));
  expect(toText(json)).toBe(script && toText(script));
  expect(ours).toEqual(its);
  return true;
}

describe.each(["k.Kinds", "k.Old", "k.New"])("JSON of %s to wire", (typeName) => {
  const message = messageOf(schema, typeName);
  const texts = jsonOf(message, 4).map((value) => JSON.stringify(value));

  it("is the same", () => {
    let taken = 0;
    fc.assert(
      fc.property(texts, (text) => {
        if (encodesAlike(message, context, utf8(text))) taken++;
      }),
      { numRuns: 500 },
    );
    // Any, FieldMask, NullValue and groups are not for it.
    expect(taken).toBeGreaterThan(125);
  });

  it("is the same, or left alone, where the text is damaged", () => {
    fc.assert(
      fc.property(texts, jsonDamage(texts), (text, damage) => {
        encodesAlike(message, context, utf8(damage(text)));
      }),
      { numRuns: 2000 },
    );
  });
});

const options = fc.record({
  emitDefaults: fc.boolean(),
  useProtoFieldName: fc.boolean(),
  enumAsInteger: fc.boolean(),
  int64AsNumber: fc.boolean(),
  maxDepth: fc.constantFrom(2, 4, 100),
});

describe.each(["kitchen.Kitchen", "kitchen.Legacy", "kitchen.ClosedLists"])("wire of %s to JSON", (typeName) => {
  const message = kitchenMessage(typeName);
  const wires = messageWire(peerMessage(typeName), 4);
  const alike = (wire: Uint8Array, options: Partial<JsonOptions>) => decodesAlike(message, contextOf(options), wire);
  const inOrder = (wire: Uint8Array) => toBinary(peerMessage(typeName), fromBinary(peerMessage(typeName), wire));

  it("is the same", () => {
    let taken = 0;
    fc.assert(
      fc.property(wires, options, (wire, options) => {
        if (alike(inOrder(wire), { ...options, maxDepth: 100 })) taken++;
      }),
      { numRuns: 500 },
    );
    expect(taken).toBeGreaterThan(typeName === "kitchen.Kitchen" ? 400 : 40);
  });

  it("is the same, or left alone, where records are in any order, or damaged", () => {
    fc.assert(
      fc.property(wires, options, fc.option(fc.oneof(damage, wireDamage)), (wire, options, damage) => {
        alike(damage === null || wire.length === 0 ? wire : damage(wire), options);
      }),
      { numRuns: 2000 },
    );
  });

  it("is the same for one field", () => {
    const fields = fc.constantFrom(...peerMessage(typeName).fields.map(({ name }) => kitchenField(typeName, name)));
    fc.assert(
      fc.property(wires, fields, options, (wire, field, options) => {
        const context = contextOf(options);
        const json = run(() => compileWasmPrinter(message, context)?.decodeField(wire, field));
        if (json === undefined) return;
        const script = attempt(() => compileScriptCodec(message, context).decodeField(wire, field));
        expect(toText(json)).toBe(script && toText(script));
      }),
      { numRuns: 500 },
    );
  });
});

describe("a request", () => {
  const wasm = compileWasmEncoder(kinds, context);
  const script = compileScriptCodec(kinds, context);

  function requestsAlike(request: EncodeRequest): boolean {
    const wire = run(() => wasm?.encodeRequest(request));
    if (wire === undefined) return false;
    const expected = attempt(() => script.encodeRequest(request).wire);
    expect(hex(wire), request.json && new TextDecoder().decode(request.json)).toBe(hex(expected));
    return true;
  }

  const bounds = [
    bind({}),
    bind({ f_string: "a", f_bool: "false" }),
    bind({ "f_kinds.f_string": "a", "f_kinds.f_int32": "0" }),
    bind({ "f_kinds.f_kinds.f_string": "b", f_int64: "7", r_int32: ["1", "2"] }, "query"),
    bind({ c_text: "a" }),
    bind({ "f_kinds.c_text": "a" }),
  ];
  const names = ["*", "f_kinds", "r_kinds", "m_string", "f_string", "s_value", "t_time", "c_kinds", "c_text"];

  it("is the same for every body", () => {
    let taken = 0;
    fc.assert(
      fc.property(jsonOf(kinds, 3), fc.constantFrom(...bounds), fc.constantFrom(...names), (value, bound, name) => {
        const body = name === "*" ? name : fieldOf(kinds, name);
        const known = value as Record<string, unknown>;
        const part = body === "*" ? value : (known[body.name] ?? known[body.jsonName] ?? value);
        if (requestsAlike({ json: utf8(JSON.stringify(part)), body, bound })) taken++;
      }),
      { numRuns: 1500 },
    );
    expect(taken).toBeGreaterThan(300);
  });

  it.each([
    ['{"fInt32":1}', "*", { f_string: "a" }],
    ['{"fInt32":1,"fString":"a"}', "*", { f_string: "a" }],
    ['{"fString":"a","fInt32":1}', "f_kinds", { "f_kinds.f_string": "a", f_bool: "true" }],
    ['{"fInt32":1}', "f_kinds", { "f_kinds.f_kinds.f_kinds.f_string": "a" }],
    ["[]", "r_int32", { f_bool: "true" }],
    ["null", "f_kinds", { f_bool: "true" }],
    ["null", "s_value", {}],
  ])("is taken: %s into %s beside %j", (json, name, values) => {
    const body = name === "*" ? name : fieldOf(kinds, name);
    expect(requestsAlike({ json: utf8(json), body, bound: bind(values) })).toBe(true);
  });

  it.each([
    ['{"fString":"b"}', "*", { f_string: "a" }],
    ['{"fString":null}', "*", { f_string: "a" }],
    ['{"fString":""}', "*", { f_string: "" }],
    ['{"cNumber":1}', "*", { c_text: "a" }],
    ['{"fString":"b"}', "f_kinds", { "f_kinds.f_string": "a" }],
    ['"a"', "c_text", { c_number: "1" }],
  ])("is left alone: %s into %s beside %j", (json, name, values) => {
    const body = name === "*" ? name : fieldOf(kinds, name);
    expect(requestsAlike({ json: utf8(json), body, bound: bind(values) })).toBe(false);
  });
});

describe("a number", () => {
  const bits = fc.tuple(fc.nat(0xffff_ffff), fc.nat(0xffff_ffff)).map(([high, low]) => {
    const view = new DataView(new ArrayBuffer(8));
    view.setUint32(0, high);
    view.setUint32(4, low);
    return view.getFloat64(0);
  });
  const doubles = fc.oneof(
    bits,
    fc.double(),
    fc.double({ min: -1000, max: 1000 }),
    fc.integer({ min: -1e9, max: 1e9 }).map((n) => n / 1e6),
    fc.integer({ min: -1100, max: 1100 }).map((power) => 2 ** power),
    fc.integer({ min: -330, max: 310 }).map((power) => Number(`1e${power}`)),
  );

  it("of 64 bits is printed as JSON.stringify does, and read back", () => {
    const wasm = compileWasmEncoder(kinds, context);
    const printer = compileWasmPrinter(kinds, context);
    fc.assert(
      fc.property(doubles, (value) => {
        fc.pre(Number.isFinite(value) && value !== 0);
        const json = JSON.stringify({ fDouble: value });
        const wire = wasm?.encode(utf8(json));
        expect(new DataView((wire as Uint8Array).buffer).getFloat64(1, true)).toBe(value);
        expect(toText(printer?.decode(wire as Uint8Array) as Uint8Array)).toBe(json);
      }),
      { numRuns: 20_000 },
    );
  });

  it("of 32 bits is printed as the other engine does", () => {
    fc.assert(
      fc.property(fc.nat(0xffff_ffff), (bits) => {
        const wire = Uint8Array.of(0x15, bits, bits >>> 8, bits >>> 16, bits >>> 24);
        expect(decodesAlike(kinds, context, wire)).toBe(true);
      }),
      { numRuns: 5000 },
    );
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    "that is %s is printed by its name",
    (value) => {
      // Fields 1 (double) and 2 (float).
      const wire = new Uint8Array(14);
      const view = new DataView(wire.buffer);
      wire[0] = 0x09;
      view.setFloat64(1, value, true);
      wire[9] = 0x15;
      view.setFloat32(10, value, true);
      const json = compileWasmPrinter(kinds, context)?.decode(wire);
      expect(toText(json as Uint8Array)).toBe(`{"fDouble":"${value}","fFloat":"${value}"}`);
    },
  );

  it.each([
    ["0.1", 0.1],
    // Halfway between two doubles, as far as 19 digits tell, and beyond.
    ["9007199254740993", 9007199254740992],
    ["9007199254740993.00000000000000000001", 9007199254740994],
    ["1.00000000000000011102230246251565404236316680908203125", 1],
    ["1.00000000000000011102230246251565404236316680908203126", 1.0000000000000002],
    ["2.2250738585072011e-308", 2.225073858507201e-308],
    ["4.9e-324", 5e-324],
    ["1.7976931348623157e308", 1.7976931348623157e308],
    ["0.00000000000000000000000000000000000000000001234567890123456789", 1.2345678901234568e-44],
    ["-0.0", -0],
  ])("%s is read as it is nearest to", (text, value) => {
    const wire = compileWasmEncoder(kinds, context)?.encode(utf8(`{"rDouble":[${text}]}`)) as Uint8Array;
    expect(Object.is(new DataView(wire.buffer).getFloat64(3, true), value)).toBe(true);
  });
});

describe("the memory", () => {
  it("grows for a message of a megabyte, and for none much larger", () => {
    const text = (count: number) =>
      utf8(`{"rString":[${Array.from({ length: count }, () => `"${"x".repeat(10_000)}"`)}]}`);
    const script = compileScriptCodec(kinds, context);
    const wire = compileWasmEncoder(kinds, context)?.encode(text(150));
    expect(wire).toEqual(script.encode(text(150)));
    expect(compileWasmPrinter(kinds, context)?.decode(wire as Uint8Array)).toEqual(text(150));
    const large = text(1000);
    expect(compileWasmEncoder(kinds, context)?.encode(large)).toBeUndefined();
    expect(compileWasmPrinter(kinds, context)?.decode(script.encode(large))).toBeUndefined();
    // The input fits, and what becomes of it does not: with defaults each empty message is hundreds of bytes.
    const empty = Uint8Array.from({ length: 300_000 }, (_, i) => [0xa2, 0x02, 0x00][i % 3] as number);
    const verbose = contextWith({ emitDefaults: true });
    expect(compileWasmPrinter(kinds, verbose)?.decode(empty.subarray(0, 3000))).toBeDefined();
    expect(compileWasmPrinter(kinds, verbose)?.decode(empty)).toBeUndefined();
    expect(currentEngine().memoryBytes).toBeLessThanOrEqual(8 << 20);
    expect(compileWasmEncoder(kinds, context)?.encode(utf8('{"fInt32":1}'))).toEqual(Uint8Array.of(0x18, 1));
  });

  it("is let go of when tables of schemas that are gone have filled it", () => {
    const before = currentEngine();
    for (let i = 0; i < 40 && currentEngine() === before; i++) {
      const gone = wideMessage(300);
      expect(compileWasmEncoder(gone, context)?.encode(utf8('{"f0":1}'))).toEqual(Uint8Array.of(8, 1));
    }
    expect(currentEngine()).not.toBe(before);
  });

  it("has room for more tables than it had at first", () => {
    // Nothing of this schema is known to a new engine.
    useWasm(wasmModule);
    const wide: Message = wideMessage(3000);
    const json = utf8(JSON.stringify(Object.fromEntries(wide.fields.map(({ name }, i) => [name, i + 1]))));
    const wire = compileWasmEncoder(wide, context)?.encode(json);
    expect(hex(wire)).toBe(hex(compileScriptCodec(wide, context).encode(json)));
    expect(toText(compileWasmPrinter(wide, context)?.decode(wire as Uint8Array) as Uint8Array)).toBe(toText(json));
  });

  it("keeps the limit of the output", () => {
    const limited = contextWith({ emitDefaults: true, maxJsonBytes: 5000 });
    const wire = new Uint8Array(200).map((_, i) => (i % 2 === 0 ? 0xa2 : 0x02));
    expect(compileWasmPrinter(kinds, limited)?.decode(wire)).toBeUndefined();
  });
});

function wideMessage(count: number): Message {
  const [like] = kinds.fields.filter(({ name }) => name === "f_int32");
  if (!like) throw new Error("no field to copy");
  const fields = Array.from({ length: count }, (_, i) => ({
    ...like,
    name: `f${i}`,
    jsonName: `f${i}`,
    number: i + 1,
  }));
  return { name: "k.Wide", fields, oneofs: [] };
}
