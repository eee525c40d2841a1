/** The records of a message in wire form, as slices: for those who move records about without reading their values. */
import { Code, ConnectError } from "@connectrpc/connect";
import * as WireType from "./wire-type.ts";

export interface WireRecord {
  /** Field number. */
  readonly number: number;
  /** Tag and value. */
  readonly bytes: Uint8Array;
  /** What lies inside of a length-delimited record or a group; undefined for numbers. */
  readonly content: Uint8Array | undefined;
}

/** @throws ConnectError invalid_argument where the bytes are no message. */
export function* readRecords(wire: Uint8Array): Generator<WireRecord, void> {
  let at = 0;
  /** Numbers of the groups that are open. */
  const groups: number[] = [];
  let groupStart = 0;
  let groupContent = 0;
  while (at < wire.length) {
    const start = at;
    const [tag, afterTag] = readVarint(wire, at);
    const number = Math.floor(tag / 8);
    const wireType = tag % 8;
    if (number === 0) throw malformed();
    const [contentStart, end] = valueBounds(wire, wireType, afterTag);
    if (end > wire.length) throw malformed();
    at = end;
    if (wireType === WireType.SGROUP) {
      if (groups.length === 0) {
        groupStart = start;
        groupContent = end;
      }
      groups.push(number);
    } else if (wireType === WireType.EGROUP) {
      if (groups.pop() !== number) throw malformed();
      if (groups.length === 0) {
        yield { number, bytes: wire.subarray(groupStart, end), content: wire.subarray(groupContent, start) };
      }
    } else if (groups.length === 0) {
      const content = wireType === WireType.LEN ? wire.subarray(contentStart, end) : undefined;
      yield { number, bytes: wire.subarray(start, end), content };
    }
  }
  if (groups.length > 0) throw malformed();
}

/** Start and end of the value behind a tag; without the length of a length-delimited one. Group tags have none. */
function valueBounds(wire: Uint8Array, wireType: number, at: number): readonly [number, number] {
  switch (wireType) {
    case WireType.VARINT:
      return [at, readVarint(wire, at)[1]];
    case WireType.I64:
      return [at, at + 8];
    case WireType.LEN: {
      const [length, start] = readVarint(wire, at);
      return [start, start + length];
    }
    case WireType.SGROUP:
    case WireType.EGROUP:
      return [at, at];
    case WireType.I32:
      return [at, at + 4];
    default:
      throw malformed();
  }
}

/** @returns the value, exact up to 53 bits, and where it ends. */
function readVarint(wire: Uint8Array, start: number): readonly [number, number] {
  let value = 0;
  for (let i = 0; i < 10; i++) {
    const byte = wire[start + i];
    if (byte === undefined) break;
    value += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) return [value, start + i + 1];
  }
  throw malformed();
}

function malformed(): ConnectError {
  return new ConnectError("the body is not a protobuf message", Code.InvalidArgument);
}
