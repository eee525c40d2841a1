/** A bounds-checked cursor over protobuf wire (encoding guide), and the one place that knows how values are laid out. */
import type { ConnectError } from "@connectrpc/connect";
import * as WireType from "./wire-type.ts";

/** Why wire, JSON or both nest too far. */
export const TOO_DEEP = "nested deeper than the depth limit";

const MAX_VARINT_BYTES = 10;
/** Content of this many bytes is worth noting, so that groups in groups are not passed over once for every level. */
const LONG_GROUP = 256;
/** A tag is an unsigned 32-bit integer. */
const MAX_TAG_BYTES = 5;

/**
 * The cursor moves in a window of the wire, at first the whole of it. Every method throws what `fault` makes when the
 * window ends too early, or holds what cannot be.
 */
export class WireReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #fault: (reason: string) => ConnectError;
  #position = 0;
  #limit: number;
  /** The two halves of the varint last read; `#low` and `#high` are signed. */
  #low = 0;
  #high = 0;
  #contentStart = 0;
  #contentEnd = 0;
  /** Where the content of long groups inside of groups ends, by where it starts: noted when the outer one was skipped. */
  readonly #groupEnds = new Map<number, number>();

  constructor(bytes: Uint8Array, fault: (reason: string) => ConnectError) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#fault = fault;
    this.#limit = bytes.length;
  }

  /** Moves the window. Offsets are those of the wire. */
  seek(start: number, end: number): void {
    this.#position = start;
    this.#limit = end;
  }

  get done(): boolean {
    return this.#position === this.#limit;
  }

  /** Offset of the content of the value last skipped: behind its length or its group's tag. */
  get contentStart(): number {
    return this.#contentStart;
  }

  /** One past the last byte of the content of the value last skipped. */
  get contentEnd(): number {
    return this.#contentEnd;
  }

  /** @returns the field number times eight, plus the wire type; unsigned. */
  tag(): number {
    const start = this.#position;
    this.#varint();
    const tag = this.#low >>> 0;
    if (this.#high !== 0 || this.#position - start > MAX_TAG_BYTES) throw this.#fault("tag is out of range");
    if (tag >>> 3 === 0) throw this.#fault("field number is 0");
    return tag;
  }

  /**
   * Moves past the value that follows its tag, and notes where its content was.
   *
   * @param levels how deep groups may nest in it, itself included.
   */
  skip(tag: number, levels: number): void {
    if ((tag & 7) === WireType.SGROUP) this.#skipGroup(tag, levels);
    else this.#skipPlain(tag & 7);
  }

  /** The varint at this offset as an int32. The cursor stays where it is. */
  int32At(offset: number): number {
    const position = this.#position;
    this.#position = offset;
    const value = this.int32();
    this.#position = position;
    return value;
  }

  /** Wider varints lose their upper bits, here and in the other 32-bit types (encoding guide, "Updating A Message Type"). */
  int32(): number {
    this.#varint();
    return this.#low;
  }

  uint32(): number {
    this.#varint();
    return this.#low >>> 0;
  }

  sint32(): number {
    this.#varint();
    return (this.#low >>> 1) ^ -(this.#low & 1);
  }

  bool(): boolean {
    this.#varint();
    return this.#low !== 0 || this.#high !== 0;
  }

  int64(): bigint {
    return BigInt.asIntN(64, this.uint64());
  }

  uint64(): bigint {
    this.#varint();
    return (BigInt(this.#high >>> 0) << 32n) | BigInt(this.#low >>> 0);
  }

  sint64(): bigint {
    const value = this.uint64();
    return (value >> 1n) ^ -(value & 1n);
  }

  fixed32(): number {
    return this.#view.getUint32(this.#take(4), true);
  }

  sfixed32(): number {
    return this.#view.getInt32(this.#take(4), true);
  }

  fixed64(): bigint {
    return this.#view.getBigUint64(this.#take(8), true);
  }

  sfixed64(): bigint {
    return this.#view.getBigInt64(this.#take(8), true);
  }

  float(): number {
    return this.#view.getFloat32(this.#take(4), true);
  }

  double(): number {
    return this.#view.getFloat64(this.#take(8), true);
  }

  #skipPlain(wireType: number): void {
    this.#contentStart = this.#position;
    switch (wireType) {
      case WireType.VARINT:
        this.#varint();
        break;
      case WireType.I64:
        this.#take(8);
        break;
      case WireType.LEN: {
        const length = this.#length();
        this.#contentStart = this.#position;
        this.#take(length);
        break;
      }
      case WireType.I32:
        this.#take(4);
        break;
      case WireType.EGROUP:
        throw this.#fault("group ends that did not begin");
      default:
        throw this.#fault(`wire type is ${wireType}`);
    }
    this.#contentEnd = this.#position;
  }

  /** Not recursive, whatever `levels` is: the groups that are open stand in a list. */
  #skipGroup(tag: number, levels: number): void {
    const open: number[] = [];
    const starts: number[] = [];
    let before = this.#position;
    let next = tag;
    for (;;) {
      const number = next >>> 3;
      switch (next & 7) {
        case WireType.SGROUP: {
          if (open.length >= levels) throw this.#fault(TOO_DEEP);
          const start = this.#position;
          open.push(number);
          starts.push(start);
          this.#position = this.#groupEnds.get(start) ?? start;
          break;
        }
        case WireType.EGROUP: {
          if (open.pop() !== number) throw this.#fault("group ends with another's number");
          const start = starts.pop() as number;
          if (open.length === 0) {
            this.#contentStart = start;
            this.#contentEnd = before;
            return;
          }
          if (before - start >= LONG_GROUP) this.#groupEnds.set(start, before);
          break;
        }
        default:
          this.#skipPlain(next & 7);
      }
      before = this.#position;
      next = this.tag();
    }
  }

  /** A length beyond 32 bits is past every end. */
  #length(): number {
    this.#varint();
    return this.#high === 0 ? this.#low >>> 0 : Number.POSITIVE_INFINITY;
  }

  /** @returns the offset of the bytes taken. */
  #take(length: number): number {
    const start = this.#position;
    if (length > this.#limit - start) throw this.#fault("truncated");
    this.#position = start + length;
    return start;
  }

  /** Bits beyond the 64th are dropped. */
  #varint(): void {
    let low = 0;
    let high = 0;
    for (let i = 0; i < MAX_VARINT_BYTES; i++) {
      const byte = this.#bytes[this.#take(1)] as number;
      const bits = byte & 0x7f;
      if (i < 4) low |= bits << (7 * i);
      else if (i > 4) high |= bits << (7 * i - 32);
      else {
        // The fifth byte: four bits are the last of the lower half, three the first of the upper.
        low |= bits << 28;
        high = bits >> 4;
      }
      if (byte < 0x80) {
        this.#low = low;
        this.#high = high;
        return;
      }
    }
    throw this.#fault(`varint is longer than ${MAX_VARINT_BYTES} bytes`);
  }
}
