import { expect, test } from "vitest";
import { parseTemplate, TemplateError } from "../../src/route/template.ts";
import { catalogue } from "./catalogue.ts";

for (const { id, template } of catalogue) {
  if (!template) continue;
  test(`${id}: ${template.text}`, () => {
    if (!template.valid) {
      expect(() => parseTemplate(template.text)).toThrow(TemplateError);
      return;
    }
    const parsed = parseTemplate(template.text);
    if (template.segments) expect(parsed.segments).toEqual(template.segments);
    if (template.verb !== undefined) expect(parsed.verb).toBe(template.verb);
    if (template.variables) expect(parsed.variables).toEqual(template.variables);
    expect(parsed.warning !== undefined).toBe(template.warning ?? false);
  });
}

test("keeps the text", () => {
  expect(parseTemplate("/v1/{name=shelves/*}:go").text).toBe("/v1/{name=shelves/*}:go");
});

test.each([
  ["/a/b%2Fc", ["a", "b/c"]],
  ["/a%3ab", ["a:b"]],
  ["/...", ["..."]],
  ["/{x=a}/{y.z=*/b}", ["a", "*", "b"]],
])("%s has segments %j", (text, segments) => {
  expect(parseTemplate(text).segments).toEqual(segments);
});

test.each([
  ["/v1/{a}/{b=x}/{c=x/*}/{d=**}", [false, false, true, true]],
  ["/{a=**/x}", [true]],
])("%s: which variables keep %%2F", (text, multi) => {
  expect(parseTemplate(text).variables.map((variable) => variable.multi)).toEqual(multi);
});

test("decodes the verb", () => {
  expect(parseTemplate("/a:c%61ncel").verb).toBe("cancel");
});

test.each([
  ["", 1, '"/"'],
  ["v1", 1, '"/"'],
  ["/v1/", 5, "segment"],
  ["/v1//x", 5, "segment"],
  ["/v1/us ers", 7, "percent-encoded"],
  ["/v1/é", 5, "percent-encoded"],
  ["/v1/$x", 5, "percent-encoded"],
  ["/v1/%zz", 5, "two hex digits"],
  ["/v1/ab%2", 7, "two hex digits"],
  ["/v1/%FF", 5, "UTF-8"],
  ["/v1/../x", 5, ".."],
  ["/v1/%2E", 5, '"."'],
  ["/v1/%2A", 5, '"*"'],
  ["/v1/%2A%2a", 5, '"**"'],
  ["/v1/u{id}", 6, '"{"'],
  ["/v1/{id}u", 9, '"u"'],
  ["/v1/*x", 6, '"x"'],
  ["/v1/{", 6, "field name"],
  ["/v1/{1d}", 6, "field name"],
  ["/v1/{a..b}", 7, "field name"],
  ["/v1/{a/b}", 7, '"}"'],
  ["/v1/{a", 7, "the end"],
  ["/v1/{a=x", 9, "the end"],
  ["/v1/{a=x:y}", 9, '":"'],
  ["/v1/{a=x/{b}}", 10, "another"],
  ["/v1/{id}/{id}", 11, "id is bound twice"],
  ["/v1/{a}/{a.b}", 10, "a.b and a overlap"],
  ["/v1/{a.b}/{a}", 12, "a and a.b overlap"],
  ["/**/x/**", 7, '"**"'],
  ["/:go", 2, "segment"],
  ["/a:", 4, "verb"],
  ["/a:*", 4, "verb"],
  ["/a:b:c", 5, '":"'],
  ["/a:b/c", 5, '"/"'],
])("%s is refused at column %i", (text, column, message) => {
  expect(() => parseTemplate(text)).toThrow(
    expect.objectContaining({ column, message: expect.stringContaining(message) }),
  );
});

test("names with a common beginning do not overlap", () => {
  expect(parseTemplate("/{a.b}/{a.bc}/{ab}").variables.map((variable) => variable.field)).toEqual([
    "a.b",
    "a.bc",
    "ab",
  ]);
});

test.each([
  ["/v1/é", "write %C3%A9"],
  ["/v1/$x", "write %24"],
  ["/**/x/**", '"*"'],
])("%s: what to do", (text, fix) => {
  expect(() => parseTemplate(text)).toThrow(expect.objectContaining({ fix: expect.stringContaining(fix) }));
});
