import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileCodec } from "../../src/codec/compile.ts";
import { messageOf } from "../proto.ts";
import { jsonOf } from "./json-arbitrary.ts";
import { contextWith, schema, shownJson, utf8 } from "./kinds.ts";

const kinds = messageOf(schema, "k.Kinds");

describe("compileCodec", () => {
  it("compiles a message once in a context", () => {
    const context = contextWith();
    const codec = compileCodec(kinds, context);
    expect(codec.message).toBe(kinds);
    expect(compileCodec(kinds, context)).toBe(codec);
    expect(compileCodec(kinds, contextWith())).not.toBe(codec);
    expect(compileCodec(messageOf(schema, "k.Old"), context)).not.toBe(codec);
  });

  it("brings back JSON that means the same to protobuf-es", () => {
    const codec = compileCodec(kinds, contextWith());
    fc.assert(
      fc.property(jsonOf(kinds, 3), (value) => {
        const json = JSON.stringify(value);
        const back = new TextDecoder().decode(codec.decode(codec.encode(utf8(json))));
        expect(shownJson("k.Kinds", back)).toEqual(shownJson("k.Kinds", json));
      }),
      { numRuns: 200 },
    );
  });
});
