/** What goes wrong with bytes on their way. */
import fc from "fast-check";

/** Places are fractions of the length. */
const place = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const byte = fc.integer({ min: 0, max: 255 });
/** Cuts off the end, changes a byte, puts one in, takes one out. */
export const damage: fc.Arbitrary<(wire: Uint8Array) => Uint8Array> = fc.oneof(
  place.map((at) => (wire: Uint8Array) => wire.subarray(0, Math.floor(at * wire.length))),
  fc.tuple(place, byte).map(([at, byte]) => (wire: Uint8Array) => {
    const damaged = wire.slice();
    damaged[Math.floor(at * wire.length)] = byte;
    return damaged;
  }),
  fc.tuple(place, byte).map(([at, byte]) => (wire: Uint8Array) => {
    const index = Math.floor(at * wire.length);
    return new Uint8Array([...wire.subarray(0, index), byte, ...wire.subarray(index)]);
  }),
  place.map((at) => (wire: Uint8Array) => wire.filter((_, i) => i !== Math.floor(at * wire.length))),
);
