/** Numbers from text in JSON's grammar (RFC 8259 §6), quoted or not: exact for integers, in range for floats. */

const grammar = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;

/**
 * The integer that the text stands for: `12`, `1.0`, `1.2e3`; nothing is rounded. The cost grows with the length of the
 * text only, not with its exponent.
 *
 * @returns undefined when the text is no number, is no whole number, or lies outside of min…max (64 bits at most).
 */
export function parseInteger(text: string, min: bigint, max: bigint): bigint | undefined {
  const value = parseAnyInteger(text);
  return value === undefined || value < min || value > max ? undefined : value;
}

function parseAnyInteger(text: string): bigint | undefined {
  const match = grammar.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = "", fraction = "", exponent = "0"] = match;
  const digits = whole + fraction;
  let first = 0;
  while (digits[first] === "0") first++;
  let last = digits.length;
  while (last > first && digits[last - 1] === "0") last--;
  if (first === last) return 0n;
  // The value is digits[first…last) times ten to the power of `zeros`.
  const zeros = Number(exponent) - fraction.length + (digits.length - last);
  // 64 bits hold 20 decimal digits at most.
  if (zeros < 0 || last - first + zeros > 20) return undefined;
  return BigInt(`${sign}${digits.slice(first, last)}${"0".repeat(zeros)}`);
}

/**
 * A double, or one of `NaN`, `Infinity`, `-Infinity`. What is too small becomes zero.
 *
 * @returns undefined when the text is no number or too large.
 */
export function parseDouble(text: string): number | undefined {
  const special = parseSpecial(text);
  if (special !== undefined) return special;
  if (!grammar.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}

/** As `parseDouble`, and too large when it does not round to a finite 32-bit float. */
export function parseFloat32(text: string): number | undefined {
  const value = parseDouble(text);
  if (value === undefined || !Number.isFinite(value)) return value;
  return Number.isFinite(Math.fround(value)) ? value : undefined;
}

function parseSpecial(text: string): number | undefined {
  if (text === "NaN") return Number.NaN;
  if (text === "Infinity") return Number.POSITIVE_INFINITY;
  if (text === "-Infinity") return Number.NEGATIVE_INFINITY;
  return undefined;
}
