/** What is fuzzed: something that the network reaches, and what must hold of it whatever comes. */
import { readFileSync } from "node:fs";
import { ConnectError } from "@connectrpc/connect";
import fc, { type Arbitrary } from "fast-check";

export interface Target {
  /** Text, or bytes as the characters U+0000 to U+00FF. */
  readonly inputs: Arbitrary<string>;
  /**
   * @param salt chooses what the input does not tell, such as where bytes are cut.
   * @throws Error which says what did not hold.
   */
  ask(input: string, salt: number): void | Promise<void>;
}

/** An input has some dozen bytes and takes a millisecond or two: a thousand times that is no noise. */
const MAX_CPU_US = 2_000_000;
/** The whole process has a tenth of it. */
const MAX_MEMORY = 2 ** 30;

/** So many inputs, those of the corpus first. @returns what did not hold, with the input and how to ask it again. */
export async function run(name: string, target: Target, seed: number, count: number): Promise<string | undefined> {
  const corpus = readCorpus(name);
  const known = fc.constantFrom(...corpus);
  const inputs = fc.oneof(
    target.inputs,
    fc.tuple(known, changes).map(([text, changes]) => changed(text, changes)),
  );
  const property = fc.asyncProperty(inputs, fc.nat(), async (input, salt) => {
    const before = process.cpuUsage();
    await target.ask(input, salt);
    const { user, system } = process.cpuUsage(before);
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    if (user + system > MAX_CPU_US) throw new Error(`took ${(user + system) / 1e6} s of CPU`);
    if (heapUsed + arrayBuffers > MAX_MEMORY) throw new Error(`the process has ${heapUsed + arrayBuffers} bytes`);
  });
  const examples = corpus.map((input, i): [string, number] => [input, i]);
  const details = await fc.check(property, { seed, numRuns: count, examples });
  return details.failed ? `${fc.defaultReportMessage(details)}\n${details.errorInstance}` : undefined;
}

/** Inputs that found something once, or that show what inputs look like: a JSON text on each line. */
function readCorpus(name: string): readonly string[] {
  const lines = readFileSync(new URL(`corpus/${name}.jsonl`, import.meta.url), "utf8")
    .trimEnd()
    .split("\n");
  return lines.map((line) => JSON.parse(line) as string);
}

type Change = readonly [kind: number, at: number, length: number, text: string];

const changes: Arbitrary<readonly Change[]> = fc.array(
  fc.tuple(fc.nat(3), fc.nat(), fc.integer({ min: 1, max: 8 }), fc.string({ unit: "binary", maxLength: 3 })),
  { maxLength: 4 },
);

/** Parts of it left out, put in, written over, repeated. */
function changed(text: string, changes: readonly Change[]): string {
  return changes.reduce((text, [kind, from, length, other]) => {
    const at = from % (text.length + 1);
    const part = text.slice(at, at + length);
    const [before, after] = [text.slice(0, at), text.slice(at + length)];
    return (
      [before + after, before + other + part + after, before + other + after, before + part + part + after][kind] ?? ""
    );
  }, text);
}

/** Pieces of the language in question, and now and then something else, in any order. */
export function textOf(...pieces: readonly string[]): Arbitrary<string> {
  const piece = fc.oneof(
    { arbitrary: fc.constantFrom(...pieces), weight: 8 },
    fc.string({ unit: "binary", maxLength: 2 }),
  );
  return fc.array(piece, { maxLength: 24 }).map((pieces) => pieces.join(""));
}

export function bytesOf(input: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(input, (character) => character.charCodeAt(0) & 0xff);
}

/** The same bytes in up to four pieces, some of them perhaps empty. */
export function cut(bytes: Uint8Array, salt: number): Uint8Array[] {
  const places = [0, salt, salt >>> 5, salt >>> 11].map((place) => place % (bytes.length + 1)).sort((a, b) => a - b);
  return [...places, bytes.length].slice(1).map((end, i) => bytes.slice(places[i], end));
}

/** What came of it, or the ConnectError: nothing else may be thrown. */
export function outcomeOf<T>(act: () => T): T | ConnectError {
  try {
    return act();
  } catch (error) {
    if (error instanceof ConnectError) return error;
    throw error;
  }
}
