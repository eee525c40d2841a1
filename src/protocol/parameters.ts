/** Header values with parameters (RFC 9110 §5.6.6): `form-data; name="a"`. */

export interface Parameterized {
  /** What stands before the parameters, in lower case. */
  readonly value: string;
  /** By name in lower case; quotes and their escapes are undone. */
  readonly parameters: ReadonlyMap<string, string>;
}

const VALUE = /[ \t]*([^\s;"]+)[ \t]*/y;
/**
 * A quoted value has escapes (RFC 9110 §5.6.4), but browsers write a backslash as it is (HTML, "multipart/form-data
 * encoding algorithm"), so that one may stand before the last quote. A value without quotes may be more than a token:
 * mail libraries write `boundary=----=_Part_1`. White space has one place each, before a name and behind a value: where
 * two could share it, a long run of it would take quadratic time.
 */
const PARAMETER =
  /;[ \t]*(?:([!#$%&'*+\-.^_`|~0-9A-Za-z]+)=(?:"((?:[^"\\]|\\.)*)"(?=[ \t]*(?:;|$))|"([^"]*)"|([^\s;"]+))[ \t]*)?(?=;|$)/sy;

/** More than any type has; names could be chosen that are slow to tell apart. */
const MAX_PARAMETERS = 64;

/** @returns undefined when the text is no such value, has a parameter twice, or more than anybody needs. */
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
    const [, name, escaped, quoted, plain] = found;
    if (name === undefined) continue;
    const key = name.toLowerCase();
    if (parameters.has(key) || parameters.size === MAX_PARAMETERS) return undefined;
    parameters.set(key, escaped?.replace(/\\(.)/gs, "$1") ?? quoted ?? plain ?? "");
  }
  return { value: value.toLowerCase(), parameters };
}
