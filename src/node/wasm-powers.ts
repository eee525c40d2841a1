/** The powers of ten that `src/wasm` reads and prints doubles with, as AssemblyScript: its file `powers.ts`. */

/** What the shortest decimal of a double (Schubfach) and the nearest double of a decimal (Eisel-Lemire) ask for. */
const MIN_POWER = -342;
const MAX_POWER = 324;
const BITS = 128n;

/** @returns source text: a table of the upper 128 bits of each power, rounded down, upper half first. */
export function powersSource(): string {
  const words: string[] = [];
  for (let power = MIN_POWER; power <= MAX_POWER; power++) {
    const value = upperBits(power);
    words.push(hex(value >> 64n), hex(value & 0xffff_ffff_ffff_ffffn));
  }
  return `export const POWERS: usize = memory.data<u64>([${words.join()}], 16);
export const MIN_POWER: i32 = ${MIN_POWER};
export const MAX_POWER: i32 = ${MAX_POWER};
`;
}

function upperBits(power: number): bigint {
  if (power >= 0) return normalized(10n ** BigInt(power));
  const divisor = 10n ** BigInt(-power);
  return normalized((1n << (lengthOf(divisor) + BITS)) / divisor);
}

function normalized(value: bigint): bigint {
  const excess = lengthOf(value) - BITS;
  return excess >= 0n ? value >> excess : value << -excess;
}

function lengthOf(value: bigint): bigint {
  return BigInt(value.toString(2).length);
}

function hex(word: bigint): string {
  return `0x${word.toString(16)}`;
}
