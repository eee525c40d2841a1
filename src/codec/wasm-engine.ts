/**
 * The WebAssembly engine: one instance for an isolate, whose memory holds tables, then the input, then the output of one
 * call. It is made when first needed. Calls are synchronous, so one is enough. Its memory grows with the largest message
 * up to a limit (`node/wasm.ts`); what would need more is left to the other engine.
 */
import type { Field, Message, Registry } from "../schema/model.ts";
import { PADDING } from "../wasm/layout.ts";
import { FULL, type TableHost, Tables } from "./wasm-tables.ts";

/** What `wasm/engine.ts` exports. Addresses and lengths in bytes. */
interface Exports extends TableHost {
  tablesStart(): number;
  seenStart(): number;
  encode(
    message: number,
    field: number,
    input: number,
    length: number,
    output: number,
    levels: number,
    maxBytes: number,
  ): number;
  decode(
    message: number,
    number: number,
    input: number,
    length: number,
    output: number,
    levels: number,
    options: number,
    maxBytes: number,
  ): number;
  skippedFields(): number;
}

/** Tables of schemas that are gone stay in memory. With more than so many bytes of all, a new engine begins with none. */
const MAX_TABLES = 2 << 20;
const PAGE = 1 << 16;
/** Room for tables at first. */
const TABLE_BYTES = 1 << 16;
/** No output is longer. */
export const MAX_OUTPUT = 2 ** 31 - 1;

/** Thrown through the engine where a message is not for it. No Error: there is nothing to say, and a stack costs microseconds. */
const NOT_MINE = Symbol("not for this engine");

const utf8 = new TextDecoder();

let compiled: WebAssembly.Module | undefined;
let current: WasmEngine | undefined;

/**
 * To be called before codecs are compiled.
 *
 * @param module of `src/wasm`, for an engine that has WebAssembly SIMD; undefined for none.
 */
export function useWasm(module: WebAssembly.Module | undefined): void {
  compiled = module;
  current = undefined;
}

export function hasWasm(): boolean {
  return compiled !== undefined;
}

/** @returns the engine. It is not made before it is needed: while modules are evaluated, Workers have no time to spare. */
export function currentEngine(): WasmEngine {
  if (current === undefined || current.tableBytes > MAX_TABLES) {
    current = new WasmEngine(compiled as WebAssembly.Module);
  }
  return current;
}

export class WasmEngine {
  readonly #exports: Exports;
  readonly #tables: Tables;
  #bytes: Uint8Array;
  /** Of the call: what types there may be in an Any. */
  #registry: Registry | undefined;
  /** Of the last call: where its output begins, and its length. */
  #output = 0;
  #length = 0;

  constructor(module: WebAssembly.Module) {
    const host = {
      giveUp() {
        throw NOT_MINE;
      },
      messageOf: (id: number) => this.#tables.messageOf(id),
      messageNamed: (start: number, length: number) => {
        const message = this.#registry?.message(this.#textAt(start, length));
        return message ? this.#tables.message(message) : 0;
      },
      // A decimal of more than 19 digits, or next to halfway between two doubles.
      parseDouble: (start: number, length: number) => Number(this.#textAt(start, length)),
    };
    // The module is ours (`node/wasm.ts`), and its types are not told to TypeScript.
    this.#exports = new WebAssembly.Instance(module, { host }).exports as unknown as Exports;
    this.#bytes = new Uint8Array(this.#exports.memory.buffer);
    const start = this.#exports.tablesStart();
    this.#tables = new Tables(this.#exports, start, start + TABLE_BYTES);
  }

  get memoryBytes(): number {
    return this.#memory.length;
  }

  get tableBytes(): number {
    return this.#tables.bytes;
  }

  /** Records of the last message decoded that belong to no field. */
  get unknownFields(): number {
    return this.#exports.skippedFields();
  }

  /**
   * JSON of a message, or of one field of it, to wire, which is the field's records then.
   *
   * @returns false when it is for the other engine.
   */
  encode(message: Message, field: Field | undefined, json: Uint8Array, levels: number, registry?: Registry): boolean {
    this.#registry = registry;
    for (;;) {
      const output = this.#load(json);
      if (output === 0) return false;
      try {
        const address = this.#tables.message(message);
        const only = field ? this.#tables.field(message, field) : 0;
        const input = this.#tables.end;
        this.#length = this.#exports.encode(address, only, input, json.length, output, levels, MAX_OUTPUT);
        return true;
      } catch (error) {
        if (!this.#isFull(error)) return false;
      }
    }
  }

  /**
   * Wire of a message to JSON, of the message or of one field of it.
   *
   * @param options `EMIT_DEFAULTS` and the others.
   * @returns false when it is for the other engine.
   */
  decode(
    message: Message,
    number: number,
    wire: Uint8Array,
    levels: number,
    options: number,
    maxBytes = MAX_OUTPUT,
    registry?: Registry,
  ): boolean {
    this.#registry = registry;
    for (;;) {
      const output = this.#load(wire);
      if (output === 0) return false;
      try {
        const address = this.#tables.message(message);
        const input = this.#tables.end;
        this.#length = this.#exports.decode(address, number, input, wire.length, output, levels, options, maxBytes);
        return true;
      } catch (error) {
        if (!this.#isFull(error)) return false;
      }
    }
  }

  /** Bytes that the last call wrote. */
  get length(): number {
    return this.#length;
  }

  /** What the last call wrote, in memory: good until the next call. */
  written(): Uint8Array {
    return this.#memory.subarray(this.#output, this.#output + this.#length);
  }

  /** A copy of what the last call wrote. */
  finish(): Uint8Array {
    return this.#memory.slice(this.#output, this.#output + this.#length);
  }

  /** Whether the JSON of the message that was encoded last had the field of that index. */
  hadField(index: number): boolean {
    const bits = this.#memory[this.#exports.seenStart() + (index >> 3)] as number;
    return (bits & (1 << (index & 7))) !== 0;
  }

  /** Puts an input behind the tables. @returns where the output goes; 0 when there is no room. */
  #load(source: Uint8Array): number {
    const input = this.#tables.end;
    const output = (input + source.length + PADDING + 15) & ~15;
    if (output > this.#memory.length && !this.#grow(output)) return 0;
    this.#memory.set(source, input);
    this.#output = output;
    return output;
  }

  /** @returns whether there was no room for a table, but is now; false when the message is for the other engine. */
  #isFull(error: unknown): boolean {
    if (error === NOT_MINE) return false;
    if (error !== FULL) throw error;
    this.#tables.extend();
    return this.#tables.end <= this.#memory.length || this.#grow(this.#tables.end);
  }

  #textAt(start: number, length: number): string {
    return utf8.decode(this.#memory.subarray(start, start + length));
  }

  /** The memory, which is another buffer when it has grown: then the old one has no bytes. */
  get #memory(): Uint8Array {
    if (this.#bytes.length === 0) this.#bytes = new Uint8Array(this.#exports.memory.buffer);
    return this.#bytes;
  }

  /** Makes memory go as far as this address. @returns false where it must not. */
  #grow(address: number): boolean {
    try {
      this.#exports.memory.grow(Math.ceil((address - this.#memory.length) / PAGE));
      return true;
    } catch (error) {
      if (error instanceof RangeError) return false;
      throw error;
    }
  }
}
