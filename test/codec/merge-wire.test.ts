import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import type { Bound, BoundValue, EncodeRequest } from "../../src/codec/codec.ts";
import { encodeText } from "../../src/codec/text.ts";
import { messageOf } from "../proto.ts";
import { bind, concat, expectOneRecordEach } from "./bind.ts";
import { encoderOf, errorOf, fieldOf, schema, shown, shownJson, utf8 } from "./kinds.ts";

const kinds = messageOf(schema, "k.Kinds");
const encoder = encoderOf("k.Kinds");

function encode(request: EncodeRequest): unknown {
  const { wire } = encoder.encodeRequest(request);
  expectOneRecordEach(kinds, wire);
  return shown("k.Kinds", wire);
}

const none = bind({});
const json = (value: unknown) => shownJson("k.Kinds", JSON.stringify(value));
const field = (name: string) => fieldOf(kinds, name);

describe("encodeRequest with a body in wire form", () => {
  const record = (name: string, content: unknown) => encoder.encode(utf8(JSON.stringify({ [name]: content })));

  it("takes the records as they are", () => {
    const bodyWire = record("fKinds", { fInt32: 1 });
    expect(encoder.encodeRequest({ bodyWire, body: field("f_kinds"), bound: none }).wire).toEqual(bodyWire);
    expect(encode({ bodyWire, body: field("f_kinds"), bound: bind({ f_string: "a" }) })).toEqual(
      json({ fKinds: { fInt32: 1 }, fString: "a" }),
    );
  });

  it("puts what is bound below the field into its one record, at every level", () => {
    const bodyWire = concat([
      record("fKinds", { fString: "new", fKinds: { rInt32: [1] } }),
      // A second record of the field: readers merge it with the first.
      record("fKinds", { fKinds: { fBool: true } }),
    ]);
    const bound = bind({ "f_kinds.f_string": "new", "f_kinds.f_kinds.f_int32": "2" });
    expect(encode({ bodyWire, body: field("f_kinds"), bound })).toEqual(
      json({ fKinds: { fString: "new", fKinds: { fInt32: 2, fBool: true, rInt32: [1] } } }),
    );
    expect(encode({ bodyWire: new Uint8Array(), body: field("f_kinds"), bound })).toEqual(
      json({ fKinds: { fString: "new", fKinds: { fInt32: 2 } } }),
    );
  });

  it("takes a whole message for body *, unknown fields and groups included", () => {
    const unknown = new BinaryWriter();
    unknown.tag(1000, WireType.StartGroup).tag(1, WireType.Varint).uint32(7).tag(1000, WireType.EndGroup);
    unknown.tag(1001, WireType.Bit32).fixed32(1).tag(1002, WireType.Bit64).fixed64(1);
    const rest = unknown.finish();
    const bodyWire = concat([encoder.encode(utf8('{"fString":"new","rInt32":[5]}')), rest]);
    const { wire } = encoder.encodeRequest({ bodyWire, body: "*", bound: bind({ f_string: "new" }) });
    expect(shown("k.Kinds", wire)).toEqual({ fString: "new", rInt32: [5] });
    expect(Buffer.from(wire).includes(Buffer.from(rest))).toBe(true);
  });

  it("sets values inside a group", () => {
    const text = fieldOf(messageOf(schema, "k.New"), "explicit");
    const child = fieldOf(messageOf(schema, "k.New"), "child");
    const leaf: BoundValue = { kind: "record", wire: encodeText(text, "2", "x"), name: "x", from: "path" };
    const bound: Bound = {
      fields: new Map([[child, { kind: "message", bound: { fields: new Map([[text, leaf]]) } }]]),
    };
    const group = encoderOf("k.New");
    const bodyWire = group.encode(utf8('{"child":{"implicit":3,"child":{}}}'));
    expect(shown("k.New", group.encodeRequest({ bodyWire, body: child, bound }).wire)).toEqual({
      child: { explicit: 2, implicit: 3, child: {} },
    });
  });

  // DESIGN: the same value in path and body is no conflict, another is a 400. The last record of a field counts.
  it.each([
    ["f_string", ["old"], "new", false],
    ["f_string", ["new", "old"], "new", false],
    ["f_string", ["old", "new"], "new", true],
    ["f_int32", [1], "1", true],
    ["f_int32", [1], "2", false],
  ])("compares %s, %j in the body, with %s in the path", (name, inBody, inPath, agree) => {
    const bodyWire = concat(inBody.map((value) => record(name, value)));
    const request = { bodyWire, body: "*", bound: bind({ [name]: inPath }) } as const;
    if (agree) expect(encode(request)).toEqual(json({ [name]: inBody.at(-1) }));
    else expect(errorOf(() => encode(request)).rawMessage).toMatch(new RegExp(`^${name}: .*path`));
  });

  it("refuses another member of a bound oneof", () => {
    const bodyWire = record("cNumber", 1);
    expect(
      errorOf(() => encode({ bodyWire, body: field("c_number"), bound: bind({ c_text: "a" }) })).rawMessage,
    ).toContain("choice");
  });

  // Each is cut off, or has a tag that is none (encoding guide).
  it.each([
    [[0x0a]],
    [[0x0a, 5, 1]],
    [[0x08]],
    [[0x08, 0x80]],
    [[0x09, 0]],
    [[0x0d, 0]],
    [[0x0b]],
    [[0x0c]],
    [[0x0f]],
    [[0x00, 0]],
    [[0x0b, 0x14]],
  ])("refuses %j", (bytes) => {
    const request = { bodyWire: Uint8Array.from(bytes), body: "*", bound: bind({ f_string: "a" }) } as const;
    expect(errorOf(() => encode(request)).code).toBe(Code.InvalidArgument);
  });
});
