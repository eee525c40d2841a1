/** JSON, wire, forms, and what schemas are read from. */
import { deepStrictEqual, strictEqual } from "node:assert";
import { fromBinary, toJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { ConnectError } from "@connectrpc/connect";
import fc from "fast-check";
import { cutParts } from "../../src/client/multipart.ts";
import { compileCodec } from "../../src/codec/compile.ts";
import { compileRules } from "../../src/route/rule.ts";
import { checksum } from "../../src/schema/image-format.ts";
import { readImage } from "../../src/schema/image-read.ts";
import { writeImage } from "../../src/schema/image-write.ts";
import type { Message, Schema } from "../../src/schema/model.ts";
import { readSchema } from "../../src/schema/read.ts";
import { contextWith } from "../codec/kinds.ts";
import { createOracle } from "../codec/oracle.ts";
import { BookDesc, librarySet } from "../library-backend.ts";
import { plainSchema } from "../schema/plain.ts";
import { bytesOf, cut, outcomeOf, type Target, textOf } from "./target.ts";

const context = contextWith();
const value = compileCodec(messageNamed("google.protobuf.Value"), context);

function messageNamed(name: string): Message {
  const message = context.registry.message(name);
  if (!message) throw new Error(`no message ${name}`);
  return message;
}

/**
 * What JSON.parse takes and ProtoJSON does not: a name twice in an object (RFC 7493 §2.3), half of a pair of surrogates,
 * which has no UTF-8 (protobuf.dev/programming-guides/json), a number beyond a double, which JSON.parse rounds to infinity.
 */
function isRefused(text: string, value: unknown): boolean {
  // In right JSON a string before a colon is a name.
  const names = text.match(/"(?:[^"\\]|\\.)*"\s*:/g) ?? [];
  let different = 0;
  let isRight = true;
  const look = (value: unknown): void => {
    if (typeof value === "string") isRight &&= value.isWellFormed();
    if (typeof value === "number") isRight &&= Number.isFinite(value);
    if (typeof value !== "object" || value === null) return;
    if (!Array.isArray(value)) {
      different += Object.keys(value).length;
      isRight &&= Object.keys(value).every((name) => name.isWellFormed());
    }
    Object.values(value).forEach(look);
  };
  look(value);
  return !isRight || different < names.length;
}

/** JSON.parse reads what the bytes of a google.protobuf.Value say, and so does protobuf-es. */
export const json: Target = {
  inputs: textOf(
    ...'{ } [ ] , , : : " " "a" "\\u0041" "\\ud800" \\ 0 1 -0 01 1.5 1e5 1e999 -1.25e-3 . true false null nul \u00e9 \t \u00ef\u00bb\u00bf'.split(
      " ",
    ),
    " ",
    "\n",
  ),
  ask(input) {
    const bytes = bytesOf(input);
    const wire = outcomeOf(() => value.encode(bytes));
    let peer: { readonly value: unknown } | undefined;
    try {
      const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
      const value: unknown = JSON.parse(text);
      if (!isRefused(text, value)) peer = { value };
    } catch {}
    if (wire instanceof ConnectError) {
      strictEqual(peer, undefined, `refused: ${wire.rawMessage}`);
      return;
    }
    strictEqual(peer !== undefined, true, "taken, but no ProtoJSON");
    deepStrictEqual(toJson(ValueSchema, fromBinary(ValueSchema, wire)), peer?.value);
    deepStrictEqual(JSON.parse(new TextDecoder().decode(value.decode(wire))), peer?.value);
  },
};

const oracle = createOracle(librarySet);
const subject = oracle.subject(BookDesc);

/** Any bytes as a message: the oracle tells where it sees another value than protobuf-es. */
export const wire: Target = {
  inputs: textOf(
    ...'\n\x01a \n\x00 \n\x02\u00c3\u00a9 \n\x01\u00ff \x10\x01 \x10\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff\x01 "\x03\n\x01b "\x00 \x1b \x1c \x0b \x0c \x80\x01 \xff'.split(
      " ",
    ),
  ),
  ask(input) {
    const verdict = subject.decode(bytesOf(input));
    strictEqual(verdict === "only we refuse", false, verdict);
  },
};

const kinds = compileCodec(messageNamed("k.Kinds"), context);

/** Bytes that no input has beside each other. */
const CANARY = "\u00b6\u00b6";
/** Of lengths between a few bytes and some thousands. */
const canaries = Array.from({ length: 10 }, (_, i) =>
  new TextEncoder().encode(JSON.stringify([CANARY.repeat(1 << i), CANARY.repeat(5)])),
);

/** What calls before have left in the memory of the codec's engines: no answer and no error has any of it. */
export const leftovers: Target = {
  inputs: fc.oneof(
    textOf(
      ...'{ } [ ] , : "fString":"a" "rString":["b","" "rInt32":[1 "mStringString":{"c":"d" "fBytes":"AA==" "fDouble":1e5 "rMessage":[{'.split(
        " ",
      ),
      ",",
      "}",
    ),
    json.inputs,
    wire.inputs,
  ),
  ask(input, salt) {
    const bytes = bytesOf(input).map((byte) => (byte === 0xb6 ? 0x3f : byte));
    for (const act of [kinds.encode, kinds.decode, value.encode, value.decode]) {
      const planted = canaries[salt % canaries.length] as Uint8Array;
      deepStrictEqual(value.decode(value.encode(planted)), planted);
      const output = outcomeOf(() => act(bytes));
      const told = output instanceof ConnectError ? output.message : new TextDecoder().decode(output);
      strictEqual(told.includes(CANARY), false, told);
    }
  },
};

const BOUNDARY = "B";
const BACKSLASH = 0x5c;

/** Cut anywhere, the same parts; and what undici reads as a form, if both take it. */
export const multipart: Target = {
  inputs: textOf(
    "--B",
    "--B",
    "\r\n",
    "\r\n",
    "\r\n\r\n",
    "--B--",
    'Content-Disposition: form-data; name="a"',
    'Content-Disposition: form-data; name="b"; filename="c"',
    "Content-Type: text/plain",
    "data",
    "-",
    "\r",
    "\n",
  ),
  async ask(input, salt) {
    const bytes = bytesOf(input);
    const whole = partsOf([bytes]);
    deepStrictEqual(partsOf(cut(bytes, salt)), whole);
    deepStrictEqual(partsOf(Array.from(bytes, (byte) => Uint8Array.of(byte))), whole);
    // The peer neither passes over what stands before the first boundary, nor undoes escapes (RFC 9110 §5.6.4).
    if (typeof whole === "string" || !input.startsWith(`--${BOUNDARY}`) || bytes.includes(BACKSLASH)) return;
    const type = `multipart/form-data; boundary=${BOUNDARY}`;
    const form = await new Response(bytes, { headers: { "content-type": type } }).formData().catch(() => undefined);
    if (!form) return;
    const peer = await Promise.all(
      [...form].map(async ([name, value]) => [
        name,
        typeof value === "string" ? value : Buffer.from(await value.bytes()).toString(),
      ]),
    );
    deepStrictEqual(
      whole.map(([name, data]) => [name, Buffer.from(data).toString()]),
      peer,
    );
  },
};

function partsOf(chunks: readonly Uint8Array[]): [name: string, data: number[]][] | string {
  const parts: [string, number[]][] = [];
  const cutter = cutParts(BOUNDARY, 100, {
    begin: (head) => parts.push([head.name, []]),
    append: (bytes) => parts.at(-1)?.[1].push(...bytes),
    finish: () => undefined,
  });
  const end = outcomeOf(() => {
    for (const chunk of chunks) cutter.push(chunk);
    cutter.end();
  });
  return end instanceof ConnectError ? end.message : parts;
}

const writtenImage = writeImage(readSchema(librarySet));
const CHECKSUM_AT = 8;

/** Edits of bytes: `place value`, and an even salt makes the checksum right again, so that what lies behind it is read. */
const edits = fc
  .array(fc.tuple(fc.nat(1 << 16), fc.nat(255)), { minLength: 1, maxLength: 4 })
  .map((edits) => edits.map((edit) => edit.join(" ")).join("\n"));

function edited(bytes: Uint8Array, input: string): Uint8Array<ArrayBuffer> {
  const copy = Uint8Array.from(bytes);
  for (const line of input.split("\n")) {
    const [place = 0, value = 0] = line.split(" ").map((text) => Number.parseInt(text, 10) || 0);
    copy[Math.abs(place) % copy.length] = value;
  }
  return copy;
}

/** A damaged image is refused at once; one whose checksum was made right again is told as such, however far it is read. */
export const image: Target = {
  inputs: edits,
  ask(input, salt) {
    const bytes = edited(writtenImage, input);
    if (salt % 2 === 0) {
      new DataView(bytes.buffer).setUint32(CHECKSUM_AT, checksum(bytes), true);
      outcomeOf(() => look(readImage(bytes)));
    } else if (!writtenImage.every((byte, i) => byte === bytes[i])) {
      strictEqual(outcomeOf(() => readImage(bytes)) instanceof ConnectError, true, "taken, though damaged");
    }
  },
};

/** So is a damaged set of descriptors. */
export const descriptor: Target = {
  inputs: edits,
  ask(input) {
    outcomeOf(() => look(readSchema(edited(librarySet, input))));
  },
};

/** Everything in it is read, and its rules are checked. */
function look(schema: Schema): void {
  plainSchema(schema);
  compileRules(schema, new Set(schema.services.map(({ name }) => name)));
}
