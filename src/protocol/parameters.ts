/** Header values with parameters (RFC 9110 §5.6.6): `form-data; name="a"`. */

export interface Parameterized {
  /** What stands before the parameters, in lower case. */
  readonly value: string;
  /** By name in lower case; quotes and their escapes are undone. */
  readonly parameters: ReadonlyMap<string, string>;
}

const VALUE = /[ \t]*([^\s;"]+)[ \t]*/y;
/** A value without quotes may be more than a token: mail libraries write `boundary=----=_Part_1`. */
const PARAMETER = /;[ \t]*(?:([!#$%&'*+\-.^_`|~0-9A-Za-z]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+)))?[ \t]*/sy;

/** @returns undefined when the text is no such value, or has a parameter twice. */
export function parseParameters(text: string): Parameterized | undefined {
  VALUE.lastIndex = 0;
  const value = VALUE.exec(text)?.[1];
  if (value === undefined) return undefined;
  const parameters = new Map<string, string>();
  let at = VALUE.lastIndex;
  while (at < text.length) {
    PARAMETER.lastIndex = at;
    const found = PARAMETER.exec(text);
    if (!found) return undefined;
    at = PARAMETER.lastIndex;
    const [, name, quoted, plain] = found;
    if (name === undefined) continue;
    const key = name.toLowerCase();
    if (parameters.has(key)) return undefined;
    parameters.set(key, quoted?.replace(/\\(.)/gs, "$1") ?? plain ?? "");
  }
  return { value: value.toLowerCase(), parameters };
}
