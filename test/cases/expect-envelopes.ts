/** Enveloped answers: streams of Connect, and all of gRPC-Web. */
import { gunzipSync } from "node:zlib";
import type { Envelope, ExpectHttp, Json } from "./case.ts";
import { containsJson, expected, parseJson, sameJson } from "./compare.ts";
import { parseTrailerLines, splitFrames } from "./envelope.ts";
import { headerOf } from "./recorded.ts";
import type { Answer } from "./socket.ts";

export interface SeenEnvelope {
  readonly flags: number;
  readonly base64: string;
  readonly text: string;
  readonly json?: Json | undefined;
  readonly trailers?: Readonly<Record<string, string>>;
}

const TRAILER_FLAG = 0x80;

/** @returns undefined when the answer is of no enveloped type, or holds something else than whole envelopes. */
export function readEnvelopes(answer: Answer): SeenEnvelope[] | undefined {
  const type = headerOf(answer, "content-type") ?? "";
  if (!/^application\/(connect\+|grpc)/.test(type)) return undefined;
  return split(type.startsWith("application/grpc-web-text") ? decodeBase64Text(answer.body.toString()) : answer.body);
}

/** Text of gRPC-Web: base64 that may be padded in the middle, where a piece ended. */
function decodeBase64Text(text: string): Buffer {
  return Buffer.concat((text.match(/[^=]+=*/g) ?? []).map((piece) => Buffer.from(piece, "base64")));
}

function split(bytes: Buffer): SeenEnvelope[] | undefined {
  const { frames, rest } = splitFrames(bytes);
  if (rest.length > 0) return undefined;
  return frames.map(({ flags, data: sent }) => {
    const data = flags & 1 ? gunzipSync(sent) : sent;
    const text = data.toString();
    return {
      flags,
      base64: data.toString("base64"),
      text,
      json: joinMetadata(parseJson(text)),
      ...(flags & TRAILER_FLAG ? { trailers: parseTrailerLines(text) } : {}),
    };
  });
}

export function checkEnvelopes(
  expect: ExpectHttp,
  answer: Answer,
  envelopes: readonly SeenEnvelope[] | undefined,
): string[] {
  const failures: string[] = [];
  const check = (key: "envelopes" | "envelopes_partial" | "envelopes_base64_text"): void => {
    const wanted = expect[key];
    if (!wanted) return;
    const partial = key === "envelopes_partial";
    const same = envelopes?.length === wanted.length && wanted.every((one, i) => fits(envelopes[i], one, partial));
    if (!same) failures.push(expected(key, wanted, envelopes ?? answer.body.toString("latin1")));
  };
  check("envelopes");
  check("envelopes_partial");
  check("envelopes_base64_text");
  const anywhere = expect.trailers_anywhere ?? (answer.status === 200 ? expect.trailers_anywhere_if_200 : undefined);
  for (const [name, value] of Object.entries(anywhere ?? {})) {
    const came = envelopes?.at(-1)?.trailers?.[name] ?? headerOf(answer, name);
    if (came !== value) failures.push(expected(`trailer ${name}`, value, came));
  }
  return failures;
}

/**
 * Two values of one name and one value with a comma are the same metadata (RFC 9110 §5.3), and the backend's Headers
 * cannot tell them apart.
 */
function joinMetadata<T extends Json | undefined>(json: T): T {
  if (json === null || typeof json !== "object" || Array.isArray(json) || !("metadata" in json)) return json;
  const { metadata } = json;
  if (metadata === null || typeof metadata !== "object") return json;
  const joined = Object.entries(metadata).map(([name, values]) => [name, [values].flat().join(", ")]);
  return { ...json, metadata: Object.fromEntries(joined) };
}

function fits(seen: SeenEnvelope | undefined, wanted: Envelope, partial: boolean): boolean {
  if (!seen || (wanted.flags !== undefined && seen.flags !== wanted.flags)) return false;
  if (wanted.base64 !== undefined && seen.base64 !== wanted.base64) return false;
  if (wanted.text !== undefined && seen.text !== wanted.text) return false;
  if (wanted.trailers && !containsJson(seen.trailers, { ...wanted.trailers })) return false;
  const json = joinMetadata(wanted.json ?? (wanted.base64 === undefined ? wanted.message_json : undefined));
  if (json === undefined) return true;
  return partial ? containsJson(seen.json, json) : sameJson(seen.json, json);
}
