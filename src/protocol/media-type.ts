/** Content-Type and Accept (RFC 9110 §8.3, §12.5.1). */

export interface MediaType {
  /** Lower case `type/subtype`. */
  readonly essence: string;
  /** Lower case; undefined when there is none. */
  readonly charset: string | undefined;
}

const MEDIA_TYPE = /^[ \t]*([!#$%&'*+\-.^_`|~0-9A-Za-z]+\/[!#$%&'*+\-.^_`|~0-9A-Za-z]+)[ \t]*((?:;[^,]*)?)$/;
const CHARSET = /;[ \t]*charset=(?:"([^"]*)"|([^\s;"]*))/i;

/** @returns undefined when the text is no single media type. */
export function parseMediaType(text: string): MediaType | undefined {
  const [, essence, parameters] = MEDIA_TYPE.exec(text) ?? [];
  if (essence === undefined) return undefined;
  const [, quoted, token] = CHARSET.exec(parameters ?? "") ?? [];
  return { essence: essence.toLowerCase(), charset: (quoted ?? token)?.toLowerCase() };
}

/** True for JSON in UTF-8: `application/json` and every `+json`. */
export function isJson(type: MediaType): boolean {
  const json = type.essence === "application/json" || type.essence.endsWith("+json");
  return json && isUtf8(type);
}

/** True for a protobuf message in binary. */
export function isProto(type: MediaType): boolean {
  return type.essence === "application/proto" || type.essence === "application/x-protobuf";
}

/** True for JSON texts on lines, in UTF-8; the names that are in use for it, none of them registered. */
export function isNdjson(type: MediaType): boolean {
  return NDJSON.has(type.essence) && isUtf8(type);
}

const NDJSON: ReadonlySet<string> = new Set(["application/x-ndjson", "application/ndjson", "application/jsonl"]);

function isUtf8(type: MediaType): boolean {
  return type.charset === undefined || type.charset === "utf-8" || type.charset === "utf8";
}

interface Range {
  readonly essence: string;
  readonly quality: number;
}

/**
 * How much the caller wants each of some types.
 *
 * @param accept value of the Accept header; null accepts anything.
 * @param offers media types that can be had, the preferred first.
 * @returns the offer of the highest quality, the earlier one among equals; undefined when none is acceptable.
 */
export function negotiate<Offer extends string>(accept: string | null, offers: readonly Offer[]): Offer | undefined {
  if (accept === null || accept.trim() === "" || accept === "*/*" || accept === offers[0]) return offers[0];
  const ranges = parseAccept(accept);
  let best: { offer: Offer; quality: number } | undefined;
  for (const offer of offers) {
    const quality = qualityOf(offer, ranges);
    if (quality > 0 && quality > (best?.quality ?? 0)) best = { offer, quality };
  }
  return best?.offer;
}

function parseAccept(accept: string): readonly Range[] {
  return accept.split(",").map((text) => {
    const [range = "", ...parameters] = text.split(";");
    const weight = parameters.map((parameter) => /^\s*q=([0-9.]+)\s*$/i.exec(parameter)?.[1]).find(Boolean);
    return { essence: range.trim().toLowerCase(), quality: weight === undefined ? 1 : Number(weight) || 0 };
  });
}

/** The most specific range that fits counts (RFC 9110 §12.5.1). */
function qualityOf(offer: string, ranges: readonly Range[]): number {
  const type = offer.slice(0, offer.indexOf("/"));
  for (const essence of [offer, `${type}/*`, "*/*"]) {
    const range = ranges.find((range) => range.essence === essence);
    if (range) return range.quality;
  }
  return 0;
}
