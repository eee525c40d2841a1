/** Deep comparison of JSON values, and how a difference is told. */
import { isDeepStrictEqual } from "node:util";
import type { Json } from "./case.ts";

export { isDeepStrictEqual as sameJson };

/** Every key of `part` stands in `whole` with such a value; lists have the same length. */
export function containsJson(whole: unknown, part: Json): boolean {
  if (Array.isArray(part)) {
    return (
      Array.isArray(whole) && whole.length === part.length && part.every((item, i) => containsJson(whole[i], item))
    );
  }
  if (part !== null && typeof part === "object") {
    if (whole === null || typeof whole !== "object" || Array.isArray(whole)) return false;
    return Object.entries(part).every(([key, value]) => containsJson((whole as { [key: string]: Json })[key], value));
  }
  return isDeepStrictEqual(whole, part);
}

export function expected(what: string, wanted: unknown, came: unknown): string {
  return `${what}: expected ${show(wanted)}, came ${show(came)}`;
}

export function show(value: unknown): string {
  const text = JSON.stringify(value, (_, part) => (typeof part === "bigint" ? String(part) : part)) ?? "nothing";
  return text.length > 600 ? `${text.slice(0, 600)}…` : text;
}

/** `a, b` → `["a", "b"]`, in lower case. */
export function tokens(value: string | undefined): string[] {
  if (value === undefined) return [];
  return value.split(",").map((token) => token.trim().toLowerCase());
}

/** @returns undefined when the text is no JSON. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
