/** Floating-point numbers as JSON text (ProtoJSON): the shortest that reads back, or a quoted name. */

/** Below it 32-bit floats are subnormal and hold fewer digits. */
const FLOAT32_MIN_NORMAL = 2 ** -126;
/** Decimals of six digits survive a normal 32-bit float (C's FLT_DIG), so a shorter one shows up in these as well. */
const FLOAT32_DIGITS = 6;
/** With nine digits every 32-bit float reads back. */
const FLOAT32_MAX_DIGITS = 9;

/** `0.1`, `-0`, `1e+21`, `"NaN"`, `"Infinity"`, `"-Infinity"`. */
export function formatDouble(value: number): string {
  if (!Number.isFinite(value)) return `"${value}"`;
  return Object.is(value, -0) ? "-0" : String(value);
}

/** As `formatDouble`, with no more digits than a 32-bit float needs: `0.1`, not `0.10000000149011612`. */
export function formatFloat32(value: number): string {
  if (!Number.isFinite(value) || value === 0) return formatDouble(value);
  let digits = Math.abs(value) < FLOAT32_MIN_NORMAL ? 1 : FLOAT32_DIGITS;
  while (digits < FLOAT32_MAX_DIGITS && Math.fround(Number(value.toPrecision(digits))) !== value) digits++;
  return String(Number(value.toPrecision(digits)));
}
