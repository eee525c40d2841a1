import { describe, expect, it } from "vitest";
import { enumName, isUnknownEnum } from "../../src/codec/enum-name.ts";
import { field } from "./kitchen.ts";

describe("enumName", () => {
  it("is the name declared first", () => {
    const shade = field("kitchen.Kitchen", "f_shade").enum;
    if (!shade) throw new Error("no enum");
    expect([0, 1, 2].map((number) => enumName(shade, number))).toEqual(["SHADE_UNSPECIFIED", "GREY", undefined]);
  });
});

describe("isUnknownEnum", () => {
  it("is true for closed enums only", () => {
    expect(isUnknownEnum(field("kitchen.Legacy", "closed"), 99)).toBe(true);
    expect(isUnknownEnum(field("kitchen.Legacy", "closed"), 5)).toBe(false);
    expect(isUnknownEnum(field("kitchen.Kitchen", "f_genre"), 99)).toBe(false);
    expect(isUnknownEnum(field("kitchen.Kitchen", "f_int32"), 99)).toBe(false);
  });
});
