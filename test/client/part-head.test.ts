import { Code } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { parsePartHead } from "../../src/client/part-head.ts";
import { failure } from "../failure.ts";

const parse = (text: string) => parsePartHead(new TextEncoder().encode(text), "part 7");
const NAMED = 'Content-Disposition: form-data; name="a"\r\n';

test.each<[string, string, string | undefined, string | undefined]>([
  [NAMED, "a", undefined, undefined],
  ['content-disposition:form-data;name="a"\r\n', "a", undefined, undefined],
  ["CONTENT-DISPOSITION: \tForm-Data; Name=a \t\r\n", "a", undefined, undefined],
  ['Content-Disposition: form-data; name=""\r\n', "", undefined, undefined],
  ['Content-Disposition: form-data; name="a.b_c"; filename="x y.png"\r\n', "a.b_c", "x y.png", undefined],
  // As a browser sends a file input in which nothing was chosen.
  [
    'Content-Disposition: form-data; name="f"; filename=""\r\nContent-Type: application/octet-stream\r\n',
    "f",
    "",
    "application/octet-stream",
  ],
  // As curl sends -F 'f=@x.png;type=image/png'.
  [
    'Content-Disposition: form-data; name="f"; filename="x.png"\r\nContent-Type: image/png\r\n',
    "f",
    "x.png",
    "image/png",
  ],
  ["Content-Disposition: form-data; name=f; filename*=UTF-8''%e2%82%ac\r\n", "f", "UTF-8''%e2%82%ac", undefined],
  // What the HTML standard has browsers escape, and nothing beside it.
  ['Content-Disposition: form-data; name="a%22b%0D%0ac%41%"\r\n', 'a"b\r\nc%41%', undefined, undefined],
  [
    'Content-Disposition: form-data; name="\u00e9\u{1f600}"; filename="\u4e2d.txt"\r\n',
    "\u00e9\u{1f600}",
    "\u4e2d.txt",
    undefined,
  ],
  [`X-Other: 1\r\n${NAMED}Content-Transfer-Encoding: Binary\r\n`, "a", undefined, undefined],
  [`__proto__: 1\r\nconstructor: 2\r\n${NAMED}`, "a", undefined, undefined],
])("%j", (text, name, filename, contentType) => {
  expect(parse(text)).toEqual({ name, filename, contentType });
});

test.each([
  "",
  "Content-Type: text/plain\r\n",
  "Content-Disposition: form-data\r\n",
  'Content-Disposition: attachment; name="a"\r\n',
  "Content-Disposition: form-data; name=\r\n",
  'Content-Disposition: form-data; name="a\r\n',
  'Content-Disposition: form-data; name="a"; name="b"\r\n',
  "Content-Disposition: form-data; name*=UTF-8''a\r\n",
  `${NAMED}${NAMED}`,
  `${NAMED}Content-Type: a/b\r\ncontent-type: c/d\r\n`,
  // Folded lines, which RFC 9112 §5.2 has servers refuse.
  'Content-Disposition: form-data;\r\n name="a"\r\n',
  `${NAMED}no colon\r\n`,
  `${NAMED}: no name\r\n`,
  `${NAMED}X Y: 1\r\n`,
  `${NAMED}X : 1\r\n`,
  `${NAMED}X: a\rb\r\n`,
  `${NAMED}X: a\nb\r\n`,
  `${NAMED}X: a\0b\r\n`,
  `\ufeff${NAMED}`,
  `${NAMED}Content-Type: text/\u00e9\r\n`,
  `${NAMED}Content-Transfer-Encoding: base64\r\n`,
  `${NAMED}Content-Transfer-Encoding: quoted-printable\r\n`,
])("%j is refused, naming the part", (text) => {
  expect(() => parse(text)).toThrow(failure(Code.InvalidArgument, "part 7"));
});
