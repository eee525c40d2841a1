import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatKey, JsonWriter } from "../../src/codec/json-writer.ts";

function written(write: (writer: JsonWriter) => void): string {
  const writer = new JsonWriter();
  write(writer);
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(writer.finish());
}

describe("JsonWriter", () => {
  it("puts commas between members and elements, and nowhere else", () => {
    const text = written((writer) => {
      writer.openObject();
      writer.key(formatKey("a"));
      writer.openArray();
      for (const item of ["1", "true"]) {
        writer.element();
        writer.ascii(item);
      }
      writer.closeArray();
      writer.key(formatKey("b"));
      writer.openObject();
      writer.closeObject();
      writer.closeObject();
    });
    expect(text).toBe('{"a":[1,true],"b":{}}');
  });

  it("takes brackets at the end of a string for text", () => {
    const text = written((writer) => {
      writer.openArray();
      for (const item of ["{", "["]) {
        writer.element();
        writer.string(item);
      }
      writer.closeArray();
    });
    expect(text).toBe('["{","["]');
  });

  it("goes on as if what was truncated had not been written", () => {
    const text = written((writer) => {
      writer.openArray();
      const mark = writer.length;
      writer.element();
      writer.ascii("1");
      writer.truncate(mark);
      writer.element();
      writer.ascii("2");
      writer.closeArray();
    });
    expect(text).toBe("[2]");
  });

  it("escapes a key", () => {
    expect(written((writer) => writer.ascii(new TextDecoder().decode(formatKey('a"b\n'))))).toBe('"a\\"b\\n":');
  });

  it("writes any text from its bytes and from its string so that JSON.parse has it back", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 600 }), fc.nat(3), (text, offset) => {
        const bytes = new TextEncoder().encode(text);
        const framed = new Uint8Array([...new Array(offset).fill(0xff), ...bytes, 0xff]);
        const fromBytes = written((writer) => {
          expect(writer.utf8(framed, offset, offset + bytes.length)).toBe(true);
        });
        expect(JSON.parse(fromBytes)).toBe(text);
        expect(JSON.parse(written((writer) => writer.string(text)))).toBe(text);
      }),
    );
  });

  it("escapes quote, backslash and controls as JSON.stringify does", () => {
    const text = String.fromCharCode(...Array.from({ length: 0x80 }, (_, code) => code));
    const bytes = new TextEncoder().encode(text);
    expect(written((writer) => writer.utf8(bytes, 0, bytes.length))).toBe(JSON.stringify(text));
  });

  it("writes nothing for bytes that are not UTF-8", () => {
    // An overlong slash, after what is text.
    const bytes = Uint8Array.of(0x61, 0x0a, 0xc0, 0xaf);
    const text = written((writer) => {
      writer.ascii("1");
      expect(writer.utf8(bytes, 0, bytes.length)).toBe(false);
    });
    expect(text).toBe("1");
  });
});
