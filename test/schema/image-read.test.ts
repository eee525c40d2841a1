import { Code, ConnectError } from "@connectrpc/connect";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { markChecked } from "../../src/route/mark-checked.ts";
import { checksum } from "../../src/schema/image-format.ts";
import { isImage, readImage } from "../../src/schema/image-read.ts";
import { writeImage } from "../../src/schema/image-write.ts";
import { readSchema } from "../../src/schema/read.ts";
import { applyServiceConfig } from "../../src/schema/service-config.ts";
import { schema as kinds } from "../codec/kinds.ts";
import { failure } from "../failure.ts";
import { compileSet } from "../proto.ts";
import { plainSchema } from "./plain.ts";

const set = await compileSet(`syntax = "proto3";
  package small;
  message Item { string item_name = 1; map<string, Kind> kinds = 2; oneof one { Item item = 3; bytes raw = 4; } }
  enum Kind { KIND_UNSPECIFIED = 0; GOOD = 1; }
  service Items { rpc Get(Item) returns (Item); }`);
const { schema: configured } = applyServiceConfig(readSchema(set), {
  http: { rules: [{ selector: "small.Items.Get", get: "/v1/{item_name}" }] },
});
const schema = markChecked(configured);
const image = writeImage(schema);

test("an image is told from a descriptor set, and read by what reads either", () => {
  expect([isImage(image), isImage(set), isImage(new Uint8Array())]).toEqual([true, false, false]);
  expect(plainSchema(readSchema(image))).toEqual(plainSchema(schema));
});

test("bytes may stand anywhere: in a buffer of their own, or inside of another one at an odd place", () => {
  const wide = new Uint8Array(image.length + 7);
  wide.set(image, 3);
  const expected = plainSchema(readImage(image));
  expect(plainSchema(readImage(image.buffer))).toEqual(expected);
  expect(plainSchema(readImage(wide.subarray(3, 3 + image.length)))).toEqual(expected);
});

test("a descriptor set is refused where only an image will do, saying how to make one", () => {
  expect(() => readImage(set)).toThrow(failure(Code.InvalidArgument, "no schema image", "isthmus compile"));
});

test("an image of another version is refused as that, though all else in it may differ", () => {
  const other = image.slice(0, 40);
  other[4] = 9;
  expect(() => readImage(other)).toThrow(failure(Code.InvalidArgument, "version 9", "isthmus compile"));
});

test("a message's fields are not read before they are looked at", () => {
  const view = new DataView(image.buffer);
  const messageTable = 28 + 4 * (view.getUint32(12, true) + 1);
  const [first] = schema.messages();
  expect(first?.name).toBe("small.Item");
  // Behind its name, which is a byte here, the record is none.
  const record = view.getUint32(messageTable, true) + 1;
  const { services } = readImage(repaired(image, (bytes) => bytes.fill(0xff, record, record + 5)));
  const item = services[0]?.methods[0]?.input;
  expect(item?.name).toBe("small.Item");
  for (let i = 0; i < 2; i++) expect(() => item?.fields).toThrow(failure(Code.InvalidArgument, "isthmus compile"));
});

describe("damage", () => {
  test("every cut is refused", () => {
    for (let length = 0; length < image.length; length++) expectRefusal(image.subarray(0, length));
  });

  test("every byte that is another is refused", () => {
    for (let at = 0; at < image.length; at++) {
      for (const bits of [0x01, 0x80, 0xff]) {
        const bytes = image.slice();
        bytes[at] = (bytes[at] ?? 0) ^ bits;
        expectRefusal(bytes);
      }
    }
  });

  function expectRefusal(bytes: Uint8Array): void {
    expect(() => readImage(bytes)).toThrow(failure(Code.InvalidArgument, "isthmus compile"));
  }
});

/** Somebody who can mend the checksum may write what he likes: it is read as something, or refused. */
describe("bytes that lie, under a right checksum", () => {
  const large = writeImage(kinds);

  test.each([
    ["a small image", image],
    ["one with a field of every kind", large],
  ])("%s", (_, source) => {
    const change = fc.tuple(fc.nat({ max: source.length - 1 }), fc.nat({ max: 255 }));
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 8 }), (changes) => {
        const bytes = repaired(source, (copy) => {
          for (const [at, value] of changes) copy[at] = value;
        });
        expectReadOrRefused(bytes);
      }),
      { numRuns: 1000 },
    );
  });

  test("every word that is a huge number, and every one that is none", () => {
    for (let at = 12; at < image.length; at += 4) {
      for (const word of [0xffffffff, 0x7fffffff, 0]) {
        expectReadOrRefused(repaired(image, (bytes) => new DataView(bytes.buffer).setUint32(at, word, true)));
      }
    }
  });

  test("every byte that leads far", () => {
    for (let at = 12; at < image.length; at++) {
      for (const value of [0x00, 0x7f, 0x80, 0xff]) {
        expectReadOrRefused(
          repaired(image, (bytes) => {
            bytes[at] = value;
          }),
        );
      }
    }
  });

  function expectReadOrRefused(bytes: Uint8Array): void {
    try {
      const schema = readImage(bytes);
      plainSchema(schema);
      schema.message("small.Item");
    } catch (error) {
      if (error instanceof ConnectError && error.code === Code.InvalidArgument) return;
      throw error;
    }
  }
});

/** A copy with the change in it and the checksum that fits; magic and version stay. */
function repaired(source: Uint8Array, change: (bytes: Uint8Array<ArrayBuffer>) => void): Uint8Array {
  const bytes = new Uint8Array(source);
  change(bytes);
  bytes.set(source.subarray(0, 8));
  const view = new DataView(bytes.buffer);
  view.setUint32(8, checksum(bytes), true);
  return bytes;
}
