/** Reads path templates (google/api/http.proto, "Path template syntax"). */
import type { Template, TemplateVariable } from "../schema/model.ts";

export class TemplateError extends Error {
  override readonly name = "TemplateError";
  /** 1-based. One past the end when something is missing there. */
  readonly column: number;
  /** What to do, where the message does not say so itself. */
  readonly fix: string | undefined;

  constructor(message: string, column: number, fix: string | undefined) {
    super(message);
    this.column = column;
    this.fix = fix;
  }
}

/**
 * Google's own rules put segments behind `**`, so a tail of fixed length is accepted with a warning. "/" alone is the
 * root, although the grammar asks for a segment.
 *
 * @throws TemplateError for anything else that the grammar does not hold, for a literal that no request can have
 *   (`.`, `..`, `*`), and for variables that set one field twice.
 */
export function parseTemplate(text: string): Template {
  return new TemplateParser(text).template();
}

const LITERAL = /(?:[A-Za-z0-9\-._~]|%[0-9A-Fa-f]{2})+/y;
const FIELD_PATH = /[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*/y;
/** Characters that stand for themselves somewhere in a template; any other is written as an escape. */
const SYNTAX = /[A-Za-z0-9\-._~/{}=*:]/;

/*
 * Template  = "/" Segments [ Verb ] ;
 * Segments  = Segment { "/" Segment } ;
 * Segment   = "*" | "**" | LITERAL | Variable ;
 * Variable  = "{" FieldPath [ "=" Segments ] "}" ;
 * FieldPath = IDENT { "." IDENT } ;
 * Verb      = ":" LITERAL ;
 *
 * A LITERAL is of unreserved characters and escapes (RFC 3986 §2.3, §2.1); an IDENT is that of proto files.
 */
class TemplateParser {
  readonly #text: string;
  #at = 0;
  readonly #segments: string[] = [];
  readonly #variables: TemplateVariable[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  template(): Template {
    if (!this.#skip("/")) throw this.#error('a template begins with "/"');
    if (this.#text !== "/") this.#readSegments(false);
    const verb = this.#skip(":") ? this.#literal("a verb") : "";
    if (this.#at < this.#text.length) throw this.#unexpected(verb === "" ? '"/", ":" or the end' : "the end");
    const deep = this.#segments.indexOf("**");
    return {
      text: this.#text,
      segments: this.#segments,
      verb,
      variables: this.#variables,
      ...(deep >= 0 && deep < this.#segments.length - 1 && { warning: 'http.proto wants "**" to be the last segment' }),
    };
  }

  #readSegments(inVariable: boolean): void {
    do this.#readSegment(inVariable);
    while (this.#skip("/"));
  }

  #readSegment(inVariable: boolean): void {
    const start = this.#at;
    if (this.#skip("**")) {
      if (this.#segments.includes("**"))
        throw this.#error('only one "**" is possible', start, 'write "*" for the other');
      this.#segments.push("**");
    } else if (this.#skip("*")) {
      this.#segments.push("*");
    } else if (this.#text[start] === "{") {
      if (inVariable)
        throw this.#error("a variable must not contain another", this.#at, "close the outer one before it");
      this.#readVariable();
    } else {
      const literal = this.#literal("a segment");
      if (literal === "." || literal === ".." || literal === "*" || literal === "**") {
        throw this.#error(`no request matches a segment that means "${literal}"`, start, "leave it out");
      }
      this.#segments.push(literal);
    }
  }

  #readVariable(): void {
    this.#skip("{");
    const column = this.#at;
    const start = this.#segments.length;
    const field = this.#fieldPath();
    for (const other of this.#variables) {
      if (other.field === field)
        throw this.#error(`${field} is bound twice`, column, "bind another field, or write the segment as it is");
      if (`${field}.`.startsWith(`${other.field}.`) || `${other.field}.`.startsWith(`${field}.`)) {
        throw this.#error(`${field} and ${other.field} overlap`, column, "bind one of them only");
      }
    }
    const explicit = this.#skip("=");
    if (explicit) this.#readSegments(true);
    else this.#segments.push("*");
    if (!this.#skip("}")) throw this.#unexpected(explicit ? '"/" or "}"' : '"=" or "}"');
    const end = this.#segments.length;
    this.#variables.push({ field, start, end, multi: end - start > 1 || this.#segments[start] === "**" });
  }

  #fieldPath(): string {
    const field = this.#match(FIELD_PATH);
    if (field === undefined || this.#text[this.#at] === ".") throw this.#unexpected("a field name");
    return field;
  }

  #literal(expected: string): string {
    const start = this.#at;
    const literal = this.#match(LITERAL);
    if (literal === undefined) throw this.#unexpected(expected);
    try {
      return decodeURIComponent(literal);
    } catch {
      throw this.#error(`"${literal}" is not UTF-8`, start, "escape the bytes of UTF-8");
    }
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }

  #skip(token: string): boolean {
    const found = this.#text.startsWith(token, this.#at);
    if (found) this.#at += token.length;
    return found;
  }

  #error(message: string, at = this.#at, fix?: string): TemplateError {
    return new TemplateError(message, at + 1, fix);
  }

  #unexpected(expected: string): TemplateError {
    const found = this.#text.slice(this.#at).match(/^./u)?.[0];
    if (found === "%") return this.#error('"%" needs two hex digits', this.#at, 'write "%25" for the character itself');
    if (found && !SYNTAX.test(found)) {
      return this.#error(`"${found}" must be percent-encoded`, this.#at, `write ${percentEncode(found)}`);
    }
    return this.#error(`${expected} is expected, not ${found ? `"${found}"` : "the end"}`);
  }
}

/** Every byte of UTF-8 as an escape, those too that encodeURIComponent leaves as they are. */
function percentEncode(character: string): string {
  const bytes = new TextEncoder().encode(character);
  return [...bytes].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("");
}
