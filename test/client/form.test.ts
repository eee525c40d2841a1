import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { formOf } from "../../src/client/form.ts";
import { httpOfError } from "../../src/protocol/status.ts";
import { failure } from "../failure.ts";
import { formText } from "./forms.ts";
import { matchOf, requestMessage, restExchange } from "./shop.ts";

const URLENCODED = "application/x-www-form-urlencoded";
const MULTIPART = "multipart/form-data; boundary=b";
const MESSAGE = { name: "a", size: 1 };
const BODIES: Readonly<Record<string, string>> = {
  [URLENCODED]: "name=a&size=1",
  [MULTIPART]: formText("b", ['name="name"', "a"], ['name="size"', "1"]),
};

function form(contentType: string, body: string): RequestInit {
  return { method: "POST", body, headers: { "content-type": contentType } };
}

function refusal(run: () => unknown): number | undefined {
  try {
    run();
  } catch (error) {
    if (error instanceof ConnectError) return httpOfError(error).status;
    throw error;
  }
  return undefined;
}

test.each([URLENCODED, MULTIPART])(
  "%s is a body, when forms are on, and 415 before it is read when they are off",
  async (type) => {
    const init = form(type, BODIES[type] ?? "");
    expect(await requestMessage(restExchange("/v1/items", init, { forms: true }))).toEqual({ item: MESSAGE });
    expect(refusal(() => restExchange("/v1/items", init).open())).toBe(415);
  },
);

test.each(["/v1/text", "/v1/tags", "/v1/labels", "/v1/struct"])(
  "POST %s, whose body is no message of named fields, takes no form",
  (target) => {
    for (const type of [URLENCODED, MULTIPART]) {
      expect(refusal(() => restExchange(target, form(type, ""), { forms: true }).open())).toBe(415);
    }
  },
);

test("a route without a body takes none, form or not", async () => {
  for (const type of [URLENCODED, MULTIPART]) {
    const refused = requestMessage(restExchange("/v1/touch", form(type, BODIES[type] ?? ""), { forms: true }));
    await expect(refused).rejects.toEqual(failure(Code.InvalidArgument, "no body"));
  }
  const empty = { method: "POST", headers: { "content-type": MULTIPART } };
  expect(await requestMessage(restExchange("/v1/touch", empty, { forms: true }))).toEqual({});
});

test("an HttpBody takes an urlencoded form as the bytes that it is, and any form when forms are off", async () => {
  const shown = (text: string) => Buffer.from(text).toString("base64");
  for (const [type, body] of Object.entries(BODIES)) {
    const message = { contentType: type, data: shown(body) };
    expect(await requestMessage(restExchange("/v1/raw", form(type, body)))).toEqual(message);
  }
  const text = BODIES[URLENCODED] ?? "";
  expect(await requestMessage(restExchange("/v1/raw", form(URLENCODED, text), { forms: true }))).toEqual({
    contentType: URLENCODED,
    data: shown(text),
  });
});

const { route } = matchOf("POST", "/v1/items");

test.each([
  URLENCODED,
  "application/x-www-form-urlencoded; charset=UTF-8",
  'Application/X-WWW-Form-Urlencoded;charset="utf-8"',
])("%s is an urlencoded form", (contentType) => {
  expect(formOf(contentType, route)?.kind).toBe("urlencoded");
});

// RFC 2046 §5.1.1: what a boundary may be.
test.each([
  ["b", "b"],
  ["----WebKitFormBoundaryAbC123", "----WebKitFormBoundaryAbC123"],
  ['"a,b c"', "a,b c"],
  [`"0'()+_,-./:=?"`, "0'()+_,-./:=?"],
  ["----=_Part_1", "----=_Part_1"],
  ["x".repeat(70), "x".repeat(70)],
  ['"b"; charset=utf-8', "b"],
])("multipart/form-data; boundary=%s", (parameter, boundary) => {
  expect(formOf(`Multipart/Form-Data; boundary=${parameter}`, route)).toMatchObject({ kind: "multipart", boundary });
});

test.each(["", '; boundary=""', '; boundary="a "', "; boundary=a@b", `; boundary=${"x".repeat(71)}`, "; b=1"])(
  "multipart/form-data%s has no boundary: 400",
  (parameters) => {
    expect(() => formOf(`multipart/form-data${parameters}`, route)).toThrow(failure(Code.InvalidArgument, "boundary"));
  },
);

test.each([
  "application/x-www-form-urlencoded; charset=latin1",
  "multipart/mixed; boundary=b",
  "multipart/form-data2; boundary=b",
  "multipart/form-data; boundary=",
  "application/json",
  "",
])("%j is no form", (contentType) => {
  expect(formOf(contentType, route)).toBeUndefined();
});
