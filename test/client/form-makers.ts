/** Multipart bodies that others have made, and what is in them. */

export interface Entry {
  readonly name: string;
  readonly filename?: string;
  readonly contentType?: string;
  readonly text: string;
}

export interface Made {
  readonly contentType: string;
  readonly body: string;
  readonly entries: readonly Entry[];
}

/** As each client sends it, written down from its own output or its standard. */
export const MADE: Readonly<Record<string, Made>> = {
  "RFC 7578 §4.2 with an explanation of RFC 2046 §5.1.1 before and after": {
    contentType: "multipart/form-data; boundary=AaB03x",
    body: [
      "This is the preamble. It is to be ignored.",
      "--AaB03x",
      'content-disposition: form-data; name="field1"',
      "content-type: text/plain;charset=UTF-8",
      "",
      "Joe owes \u20ac100.",
      "--AaB03x--",
      "This is the epilogue.",
      "--AaB03x",
      "",
    ].join("\r\n"),
    entries: [{ name: "field1", contentType: "text/plain;charset=UTF-8", text: "Joe owes \u20ac100." }],
  },
  Chromium: {
    contentType: "multipart/form-data; boundary=----WebKitFormBoundaryAbC123xYz0918273",
    body: [
      "------WebKitFormBoundaryAbC123xYz0918273",
      'Content-Disposition: form-data; name="title"',
      "",
      "a\r\nb",
      "------WebKitFormBoundaryAbC123xYz0918273",
      'Content-Disposition: form-data; name="file"; filename="%22x%22.png"',
      "Content-Type: image/png",
      "",
      "\r\n--\r\n----WebKitFormBoundaryAbC123xYz0918273",
      "------WebKitFormBoundaryAbC123xYz0918273",
      'Content-Disposition: form-data; name="none"; filename=""',
      "Content-Type: application/octet-stream",
      "",
      "",
      "------WebKitFormBoundaryAbC123xYz0918273--",
      "",
    ].join("\r\n"),
    entries: [
      { name: "title", text: "a\r\nb" },
      {
        name: "file",
        filename: "%22x%22.png",
        contentType: "image/png",
        text: "\r\n--\r\n----WebKitFormBoundaryAbC123xYz0918273",
      },
      { name: "none", filename: "", contentType: "application/octet-stream", text: "" },
    ],
  },
  Firefox: {
    contentType: "multipart/form-data; boundary=---------------------------735323031399963166993862150",
    body: [
      "-----------------------------735323031399963166993862150",
      'Content-Disposition: form-data; name="text1"',
      "",
      "text default",
      "-----------------------------735323031399963166993862150--",
      "",
    ].join("\r\n"),
    entries: [{ name: "text1", text: "text default" }],
  },
  curl: {
    contentType: "multipart/form-data; boundary=------------------------d74496d66958873e",
    body: [
      "--------------------------d74496d66958873e",
      'Content-Disposition: form-data; name="meta"',
      "Content-Type: application/json",
      "",
      '{"a":1}',
      "--------------------------d74496d66958873e",
      'Content-Disposition: form-data; name="content"; filename="q\\"q.bin"',
      "Content-Type: application/octet-stream",
      "",
      "--",
      "--------------------------d74496d66958873e--",
      "",
    ].join("\r\n"),
    entries: [
      { name: "meta", contentType: "application/json", text: '{"a":1}' },
      { name: "content", filename: 'q"q.bin', contentType: "application/octet-stream", text: "--" },
    ],
  },
  ".NET": {
    contentType: 'multipart/form-data; boundary="9e7a2c1e-4d0b-4a9b-8a53-0c1d2e3f4a5b"',
    body: [
      "--9e7a2c1e-4d0b-4a9b-8a53-0c1d2e3f4a5b",
      "Content-Type: text/plain; charset=utf-8",
      "Content-Disposition: form-data; name=note",
      "",
      "hello",
      "--9e7a2c1e-4d0b-4a9b-8a53-0c1d2e3f4a5b",
      "Content-Disposition: form-data; name=file; filename=a.bin; filename*=utf-8''a.bin",
      "",
      "x",
      "--9e7a2c1e-4d0b-4a9b-8a53-0c1d2e3f4a5b--",
      "",
    ].join("\r\n"),
    entries: [
      { name: "note", contentType: "text/plain; charset=utf-8", text: "hello" },
      { name: "file", filename: "a.bin", text: "x" },
    ],
  },
  "padding behind boundaries, and no line end behind the last (RFC 2046 §5.1.1)": {
    contentType: "multipart/form-data; boundary=b",
    body: [
      "--b \t ",
      'Content-Disposition: form-data; name="a"',
      "",
      "1",
      "--b\t",
      'Content-Disposition: form-data; name="b"',
      "",
      "2",
      "--b-- \t",
    ].join("\r\n"),
    entries: [
      { name: "a", text: "1" },
      { name: "b", text: "2" },
    ],
  },
  "parts without content, one of them without an empty line of its own (RFC 2046 §5.1.1)": {
    contentType: "multipart/form-data; boundary=b",
    body: [
      "",
      "--b",
      'Content-Disposition: form-data; name="a"',
      "",
      "--b",
      'Content-Disposition: form-data; name="b"',
      "",
      "",
      "--b--",
    ].join("\r\n"),
    entries: [
      { name: "a", text: "" },
      { name: "b", text: "" },
    ],
  },
  "no parts, as FormData without entries": {
    contentType: "multipart/form-data; boundary=b",
    body: "--b--\r\n",
    entries: [],
  },
  "contents that look like the boundary": {
    contentType: "multipart/form-data; boundary=b-b",
    body: [
      "--b-b",
      'Content-Disposition: form-data; name="a"',
      "",
      "\r--b-b\n--b-b\r\n-b-b\r\n--b\r\n--b-\r\r\n\r\n--b--\r\n--c",
      "--b-b--",
      "",
    ].join("\r\n"),
    entries: [{ name: "a", text: "\r--b-b\n--b-b\r\n-b-b\r\n--b\r\n--b-\r\r\n\r\n--b--\r\n--c" }],
  },
};
