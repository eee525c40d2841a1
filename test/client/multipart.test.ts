import { Code } from "@connectrpc/connect";
import fc from "fast-check";
import { expect, test } from "vitest";
import { cutParts } from "../../src/client/multipart.ts";
import { parseParameters } from "../../src/protocol/parameters.ts";
import { httpOfError } from "../../src/protocol/status.ts";
import { failure } from "../failure.ts";
import { type Entry, MADE } from "./form-makers.ts";
import { formText } from "./forms.ts";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

interface Part {
  readonly head: object;
  readonly data: number[];
  isWhole: boolean;
}

/** The parts of a body that comes in these chunks; each chunk's memory is used anew for the next. */
function cut(boundary: string, chunks: Iterable<Uint8Array>): Part[] {
  const parts: Part[] = [];
  const cutter = cutParts(boundary, 1000, {
    begin: (head) => parts.push({ head, data: [], isWhole: false }),
    append(bytes) {
      expect(bytes.length).toBeGreaterThan(0);
      parts.at(-1)?.data.push(...bytes);
    },
    finish() {
      const part = parts.at(-1);
      if (part) part.isWhole = true;
    },
  });
  for (const chunk of chunks) {
    const lent = chunk.slice();
    cutter.push(lent);
    lent.fill(0);
  }
  cutter.end();
  return parts;
}

function* pieces(bytes: Uint8Array, size: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

function expected(entries: readonly Entry[]): Part[] {
  return entries.map(({ name, filename, contentType, text }) => ({
    head: { name, filename, contentType },
    data: [...bytesOf(text)],
    isWhole: true,
  }));
}

const boundaryOf = (contentType: string): string => parseParameters(contentType)?.parameters.get("boundary") ?? "";

for (const [name, { contentType, body, entries }] of Object.entries(MADE)) {
  test(`${name}: cut at every byte, and into pieces of every size`, () => {
    const bytes = bytesOf(body);
    const parts = expected(entries);
    const boundary = boundaryOf(contentType);
    for (let at = 0; at <= bytes.length; at++) {
      expect(cut(boundary, [bytes.subarray(0, at), bytes.subarray(at)])).toEqual(parts);
    }
    for (let size = 1; size < 100; size++) expect(cut(boundary, pieces(bytes, size))).toEqual(parts);
  });

  test(`${name}: is no form any more when it breaks off`, () => {
    const bytes = bytesOf(body);
    const boundary = boundaryOf(contentType);
    const last = body.indexOf(`--${boundary}--`) + `--${boundary}--`.length;
    for (let end = 0; end < bytesOf(body.slice(0, last)).length; end++) {
      expect(() => cut(boundary, [bytes.subarray(0, end)])).toThrow(failure(Code.InvalidArgument, "boundary"));
    }
  });
}

test("what undici makes of a FormData, and reads of it, in chunks of any size", async () => {
  const text = fc.string({
    unit: fc.constantFrom("a", "-", "\r", "\n", "\r\n", '"', "\\", "%", "\u00e9", "\u4e2d", ";"),
  });
  // A name with a backslash, which no field has, HTML and RFC 9110 read differently.
  const name = text.map((text) => text.replaceAll("\\", ""));
  // Without a name it is a text to undici.
  const filename = text.map((text) => `${text}.`);
  const file = fc.record({
    bytes: fc.uint8Array({ maxLength: 300 }),
    name: filename,
    type: fc.constantFrom("", "image/png"),
  });
  const form = fc.array(fc.tuple(name, fc.oneof(text, file)), { maxLength: 6 });
  const sizes = fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 9 });
  await fc.assert(
    fc.asyncProperty(form, sizes, async (made, sizes) => {
      const data = new FormData();
      for (const [name, value] of made) {
        if (typeof value === "string") data.append(name, value);
        else data.append(name, new File([Uint8Array.from(value.bytes)], value.name, { type: value.type }));
      }
      const response = new Response(data);
      const contentType = response.headers.get("content-type") ?? "";
      const bytes = new Uint8Array(await response.arrayBuffer());
      const chunks: Uint8Array[] = [];
      for (let at = 0, i = 0; at < bytes.length; i++) {
        const end = at + (sizes[i % sizes.length] ?? 1);
        chunks.push(bytes.subarray(at, end));
        at = end;
      }
      const read = await new Response(bytes, { headers: { "content-type": contentType } }).formData();
      const entries = [...read].map(async ([name, value]) => [
        name,
        ...(typeof value === "string" ? bytesOf(value) : new Uint8Array(await value.arrayBuffer())),
      ]);
      const parts = cut(boundaryOf(contentType), chunks);
      expect(parts.map(({ head, data }) => [(head as { name: string }).name, ...data])).toEqual(
        await Promise.all(entries),
      );
    }),
    { numRuns: 300 },
  );
});

test("any bytes between boundaries come out as they are", () => {
  const unit = fc.constantFrom("\r", "\n", "-", "b", "--b", "\r\n", "\r\n--", "\r\n-", "x");
  const content = fc.string({ unit, maxLength: 30 }).filter((text) => !`\r\n${text}\r\n`.includes("\r\n--bb"));
  fc.assert(
    fc.property(fc.array(content, { maxLength: 4 }), fc.integer({ min: 1, max: 40 }), (contents, size) => {
      const body = bytesOf(formText("bb", ...contents.map((text) => ['name="a"', text] as const)));
      expect(cut("bb", pieces(body, size)).map(({ data }) => data)).toEqual(contents.map((text) => [...bytesOf(text)]));
    }),
    { numRuns: 1_000 },
  );
});

test("a damaged form is read alike, or refused alike, in chunks of any size", () => {
  const bodies = Object.values(MADE).map(({ contentType, body }) => ({ boundary: boundaryOf(contentType), body }));
  const damage = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    cut: fc.integer({ min: 0, max: 4 }),
    put: fc.constantFrom("", "\r", "\n", "\r\n", "-", "--", '"', ":", ";", " ", "\0", "x", "\r\n\r\n"),
  });
  const outcome = (boundary: string, chunks: Iterable<Uint8Array>): unknown => {
    try {
      return cut(boundary, chunks);
    } catch (error) {
      expect(error).toEqual(failure(Code.InvalidArgument, "multipart/form-data"));
      return String(error);
    }
  };
  fc.assert(
    fc.property(
      fc.constantFrom(...bodies),
      fc.array(damage, { minLength: 1, maxLength: 3 }),
      fc.integer({ min: 1, max: 30 }),
      ({ boundary, body }, damages, size) => {
        const damaged = damages.reduce((text, { at, cut, put }) => {
          const place = Math.floor(at * text.length);
          return text.slice(0, place) + put + text.slice(place + cut);
        }, body);
        const bytes = bytesOf(damaged);
        expect(outcome(boundary, pieces(bytes, size))).toEqual(outcome(boundary, [bytes]));
      },
    ),
    { numRuns: 3_000 },
  );
});

const HEAD = 'Content-Disposition: form-data; name="a"';

test.each([
  ["nothing", ""],
  ["no boundary", "a=1&b=2"],
  ["another boundary", `--c\r\n${HEAD}\r\n\r\n1\r\n--c--\r\n`],
  ["a boundary in the middle of a line", `x--b\r\n${HEAD}\r\n\r\n1\r\nx--b--\r\n`],
  ["LF alone behind a boundary", `--b\n${HEAD}\n\n1\n--b--\n`],
  ["LF alone in a head", `--b\r\n${HEAD}\n\r\n1\r\n--b--\r\n`],
  ["LF alone behind a head", `--b\r\n${HEAD}\r\n\n1\r\n--b--\r\n`],
  ["LF alone before the last boundary", `--b\r\n${HEAD}\r\n\r\n1\n--b--\r\n`],
  ["text behind a boundary", `--bc\r\n${HEAD}\r\n\r\n1\r\n--b--\r\n`],
  ["text behind the last boundary", `--b\r\n${HEAD}\r\n\r\n1\r\n--b--c\r\n`],
  ["one dash behind the last boundary", `--b\r\n${HEAD}\r\n\r\n1\r\n--b-\r\n`],
  ["a part without a name", "--b\r\n\r\n1\r\n--b--\r\n"],
  ["a head that does not end", `--b\r\n${HEAD}\r\n--b--\r\n`],
])("%s is refused, in chunks of any size", (_, body) => {
  const bytes = bytesOf(body);
  for (const size of [1, 2, 3, 7, 1000]) {
    expect(() => cut("b", pieces(bytes, size))).toThrow(failure(Code.InvalidArgument, "multipart/form-data"));
  }
});

test("a head is bounded, and so is the line of a boundary", () => {
  const headOf = (length: number) => `${HEAD}\r\nx: ${"y".repeat(length - HEAD.length - 9)}\r\n\r\n`;
  const body = (head: string) => bytesOf(`--b\r\n${head}1\r\n--b--\r\n`);
  expect(headOf(8_192)).toHaveLength(8_192);
  expect(cut("b", [body(headOf(8_192))])).toHaveLength(1);
  for (const size of [1, 4_096, 100_000]) {
    expect(() => cut("b", pieces(body(headOf(8_193)), size))).toThrow(failure(Code.InvalidArgument, "8192"));
    expect(() => cut("b", pieces(bytesOf(`--b${" ".repeat(9_000)}`), size))).toThrow(
      failure(Code.InvalidArgument, "8192"),
    );
  }
});

test("a form of a thousand parts is read, one of more is 413", () => {
  const form = (count: number) =>
    bytesOf(formText("b", ...Array.from({ length: count }, () => ['name="a"', ""] as const)));
  expect(cut("b", [form(1_000)])).toHaveLength(1_000);
  for (const count of [1_001, 100_000]) {
    let error: unknown;
    try {
      cut("b", [form(count)]);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toEqual(failure(Code.ResourceExhausted, "1000"));
    expect(httpOfError(error as never).status).toBe(413);
  }
});

test.each([
  ["CR", "\r"],
  ["line ends", "\r\n"],
  ["almost boundaries", `\r\n--${"b".repeat(69)}`],
  ["almost boundaries that overlap", "\r\n--b\r"],
  ["dashes", "-"],
])("16 MiB of %s take time in proportion to their bytes", (_, unit) => {
  const content = bytesOf(unit.repeat((16 << 20) / unit.length));
  const startMs = performance.now();
  let length = 0;
  const { push, end } = cutParts("b".repeat(70), 1000, {
    begin: () => undefined,
    append(bytes) {
      length += bytes.length;
    },
    finish: () => undefined,
  });
  push(bytesOf(`--${"b".repeat(70)}\r\n${HEAD}\r\n\r\n`));
  for (const piece of pieces(content, 65_536)) push(piece);
  push(bytesOf(`\r\n--${"b".repeat(70)}--`));
  end();
  // Some 0.3 s for a CR at every byte, less for all else.
  expect(performance.now() - startMs).toBeLessThan(5_000);
  expect(length).toBe(content.length);
});
