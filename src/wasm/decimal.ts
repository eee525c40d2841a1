/** What reading and printing of decimals share: products of 128 bits, and powers of ten. */

/** The upper 64 bits of a product; the lower are those of `a * b`. */
// @inline
export function multiplyHigh(a: u64, b: u64): u64 {
  const aLow = a & 0xffffffff;
  const aHigh = a >> 32;
  const bLow = b & 0xffffffff;
  const bHigh = b >> 32;
  const first = aLow * bHigh;
  const second = aHigh * bLow;
  const middle = ((aLow * bLow) >> 32) + (first & 0xffffffff) + second;
  return aHigh * bHigh + (first >> 32) + (middle >> 32);
}

/** Powers of ten that a double holds exactly, from 10⁰ on. */
export const DOUBLE_POWERS: usize = memory.data<f64>([
  1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
  1e21, 1e22,
]);
export const MAX_DOUBLE_POWER = 22;

export const INTEGER_POWERS: usize = memory.data<u64>([
  1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000, 100000000000, 1000000000000,
  10000000000000, 100000000000000, 1000000000000000, 10000000000000000, 100000000000000000, 1000000000000000000,
  10000000000000000000,
]);
