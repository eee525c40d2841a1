import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { decoder, decodeText } from "./kitchen.ts";
import { bytes, concat, group, len, text, varint } from "./wire.ts";

const kitchen = (...parts: Uint8Array[]) => decodeText("kitchen.Kitchen", concat(...parts));

/** What it throws. */
function errorOf(run: () => unknown): ConnectError {
  try {
    run();
  } catch (error) {
    if (error instanceof ConnectError) return error;
    throw error;
  }
  throw new Error("did not throw");
}

describe("errors", () => {
  it.each([
    ["a truncated message", bytes(0x18), ": truncated"],
    ["a length past the end", bytes(0x72, 5, 0x61), ": truncated"],
    ["a length past the end of the message inside", len(18, bytes(0x0a, 5, 0x61)), " at f_child: truncated"],
    ["field number 0", bytes(0x00, 0x01), "field number is 0"],
    ["wire type 6", bytes(0x1e), "wire type is 6"],
    ["a varint of eleven bytes", bytes(0x18, ...new Array(10).fill(0x80), 0), "longer than 10 bytes"],
    ["a packed list cut short", len(35, bytes(1, 2, 3)), " at r_float: truncated"],
    ["a string that is not UTF-8", len(18, len(1, bytes(0xc0, 0xaf))), " at f_child.text: string is not UTF-8"],
    ["one in a list", concat(text(33, "a"), len(33, bytes(0xff))), " at r_string[1]: string"],
    ["one in a map's key", len(41, len(1, bytes(0xff))), " at m_string.key: string"],
    ["one in a map's value", len(44, len(2, len(4, bytes(0xff)))), " at m_child.value.note: string"],
  ])("%s is internal and named", (_, content, message) => {
    const error = errorOf(() => decodeText("kitchen.Kitchen", content));
    expect(error.code).toBe(Code.Internal);
    expect(error.rawMessage).toContain("kitchen.Kitchen");
    expect(error.rawMessage).toContain(message);
  });

  it("are not in the way of the next message", () => {
    const { decode } = decoder("kitchen.Kitchen");
    expect(() => decode(len(18, bytes(0x18)))).toThrow(ConnectError);
    expect(new TextDecoder().decode(decode(varint(3, 1)))).toBe('{"fInt32":1}');
  });
});

describe("depth", () => {
  /** Child in Child, so many in all. */
  function nested(levels: number): Uint8Array {
    let content = bytes();
    for (let i = 1; i < levels; i++) content = len(3, content);
    return content;
  }

  it("counts the message itself", () => {
    expect(decodeText("kitchen.Child", nested(100))).toContain('{"child":{}}');
    const error = errorOf(() => decodeText("kitchen.Child", nested(101)));
    expect(error.code).toBe(Code.Internal);
    expect(error.rawMessage).toContain("depth");
    expect(() => decodeText("kitchen.Child", nested(4), { maxDepth: 3 })).toThrow("depth");
  });

  it("counts groups that are skipped", () => {
    const groups = (count: number) =>
      concat(bytes(...new Array(count).fill(0x4b)), bytes(...new Array(count).fill(0x4c)));
    expect(decodeText("kitchen.Child", groups(99))).toBe("{}");
    expect(() => decodeText("kitchen.Child", groups(100))).toThrow("depth");
  });

  it("counts groups that are read", () => {
    // Part { inner: Legacy { part: … } }
    let content = bytes();
    for (let i = 0; i < 10; i++) content = group(6, len(2, content));
    expect(() => decodeText("kitchen.Legacy", content, { maxDepth: 21 })).not.toThrow();
    expect(() => decodeText("kitchen.Legacy", content, { maxDepth: 20 })).toThrow("depth");
  });
});

describe("cost", () => {
  it("of many parts of one message, entries of one key, members replaced and empty messages grows with their number", () => {
    const repeat = (part: Uint8Array) => new Uint8Array(Buffer.concat(new Array<Uint8Array>(200_000).fill(part)));
    const started = performance.now();
    kitchen(repeat(len(18, text(5, "a"))));
    kitchen(repeat(len(41, concat(text(1, "k"), text(2, "v")))));
    kitchen(repeat(concat(varint(82, 1), text(81, "a"))));
    kitchen(repeat(len(38, bytes())));
    // It takes a second; the square of 200,000 would take minutes.
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});
