/** Wire by hand, written by protobuf-es. */
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

export const wire = (write: (writer: BinaryWriter) => BinaryWriter): Uint8Array => write(new BinaryWriter()).finish();

export const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);

export const concat = (...parts: Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts));

/** A record of that field, as are those of the next functions. */
export const varint = (number: number, value: number): Uint8Array =>
  wire((w) => w.tag(number, WireType.Varint).int32(value));

export const int64 = (number: number, value: bigint): Uint8Array =>
  wire((w) => w.tag(number, WireType.Varint).int64(value));

export const double = (number: number, value: number): Uint8Array =>
  wire((w) => w.tag(number, WireType.Bit64).double(value));

export const len = (number: number, ...content: Uint8Array[]): Uint8Array =>
  wire((w) => w.tag(number, WireType.LengthDelimited).bytes(concat(...content)));

export const text = (number: number, value: string): Uint8Array =>
  wire((w) => w.tag(number, WireType.LengthDelimited).string(value));

export const group = (number: number, ...content: Uint8Array[]): Uint8Array =>
  concat(
    wire((w) => w.tag(number, WireType.StartGroup)),
    ...content,
    wire((w) => w.tag(number, WireType.EndGroup)),
  );
