/** Names that every object of JavaScript has, wherever a name from outside is a key: they are names like others. */
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { endStreamFlag } from "@connectrpc/connect/protocol-connect";
import { describe, expect, test } from "vitest";
import { splitFrames } from "../cases/envelope.ts";
import { type Answering, messageOf, openBackend, openGateways } from "./gateway.ts";
import { ask, head, whole } from "./wire.ts";

const backend = await openBackend();
const lenient = { forms: true, unknownFields: "ignore", unknownQuery: "ignore" };
const workerd = await openGateways(backend, [{ forms: true }, lenient]);
const [strict = 0, lax = 0] = workerd.ports;

const NAMES = [
  ...["__proto__", "constructor", "prototype", "toString", "valueOf", "hasOwnProperty", "isPrototypeOf"],
  ...["__defineGetter__", "__lookupGetter__", "propertyIsEnumerable", "toLocaleString", "then", "length", "name"],
];

const JSON_TYPE = "Content-Type: application/json";
const set = (body: string) => whole("POST", "/things", [JSON_TYPE], body);

/** Where a name is data, and arrives. */
const DATA: Readonly<Record<string, (name: string) => { readonly request: string; readonly message: unknown }>> = {
  "a key of a map": (name) => ({
    request: set(`{"texts":{"${name}":"${name}"}}`),
    message: { texts: Object.fromEntries([[name, name]]) },
  }),
  "a key of a map of messages": (name) => ({
    request: set(`{"ids":{"${name}":{"id":"${name}"}}}`),
    message: { ids: Object.fromEntries([[name, { id: name }]]) },
  }),
  "a key of a Struct": (name) => ({
    request: set(`{"struct":{"${name}":{"${name}":1}}}`),
    message: { struct: Object.fromEntries([[name, Object.fromEntries([[name, 1]])]]) },
  }),
  "a key of a Value": (name) => ({
    request: set(`{"value":{"${name}":"${name}"}}`),
    message: { value: Object.fromEntries([[name, name]]) },
  }),
  "a key within an Any": (name) => ({
    request: set(`{"any":{"@type":"type.googleapis.com/callers.v1.Thing","texts":{"${name}":"a"}}}`),
    message: {
      any: { "@type": "type.googleapis.com/callers.v1.Thing", texts: Object.fromEntries([[name, "a"]]) },
    },
  }),
  "a value of a path": (name) => ({ request: head("GET", `/things/${name}`), message: { text: name } }),
  "a value of a query": (name) => ({ request: head("GET", `/things?text=${name}`), message: { text: name } }),
  "a value of a form": (name) => ({
    request: whole("POST", "/things", ["Content-Type: application/x-www-form-urlencoded"], `text=${name}`),
    message: { text: name },
  }),
  "a content type": (name) => ({
    request: whole("POST", "/raw", [`Content-Type: ${name}/${name}`], "a"),
    message: { contentType: `${name}/${name}`, data: "YQ==" },
  }),
};

describe.each(Object.entries(DATA))("%s", (_, make) => {
  test.each(NAMES)("%s arrives, and comes back", async (name) => {
    const { request, message } = make(name);
    const { status, body } = await ask(strict, request);
    expect([status, backend.arrivals.map(messageOf)]).toEqual([200, [message]]);
    if (!request.includes("/raw")) expect(JSON.parse(body)).toEqual(message);
  });
});

/** Where a name has to be one that is known, and none of these is. The second status is that of the lenient gateway. */
const UNKNOWN: Readonly<Record<string, readonly [make: (name: string) => string, status: number, lax: number]>> = {
  "a field": [(name) => set(`{"${name}":1}`), 400, 200],
  "a field of a field": [(name) => set(`{"thing":{"${name}":{"${name}":1}}}`), 400, 200],
  "a field within an Any": [(name) => set(`{"any":{"@type":"a/callers.v1.Id","${name}":1}}`), 400, 200],
  "a type of an Any": [(name) => set(`{"any":{"@type":"type.googleapis.com/${name}"}}`), 400, 400],
  "an enum": [(name) => set(`{"kind":"${name}"}`), 400, 200],
  "an enum in a map": [(name) => set(`{"kinds":{"a":"${name}"}}`), 400, 200],
  "an enum in a path": [(name) => head("GET", `/kinds/${name}`), 400, 400],
  "an enum in a query": [(name) => head("GET", `/things?kind=${name}`), 400, 400],
  "a query parameter": [(name) => head("GET", `/things?${name}=1`), 400, 200],
  "a field in a query parameter": [(name) => head("GET", `/things?thing.${name}=1`), 400, 200],
  "a field of a form": [
    (name) => whole("POST", "/things", ["Content-Type: application/x-www-form-urlencoded"], `${name}=1`),
    400,
    200,
  ],
  "a part of a form": [
    (name) =>
      whole(
        "POST",
        "/things",
        ["Content-Type: multipart/form-data; boundary=b"],
        `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n1\r\n--b--\r\n`,
      ),
    400,
    200,
  ],
  "a path": [(name) => head("GET", `/${name}`), 404, 404],
  "a verb": [(name) => head("GET", `/verb/a:${name}`), 404, 404],
  "a method": [(name) => whole("POST", `/callers.v1.Things/${name}`, [JSON_TYPE], "{}"), 404, 404],
  "a service": [(name) => whole("POST", `/${name}/Set`, [JSON_TYPE], "{}"), 404, 404],
  "a content coding": [(name) => whole("POST", "/things", [JSON_TYPE, `Content-Encoding: ${name}`], "{}"), 415, 415],
  "a type": [(name) => whole("POST", "/things", [`Content-Type: ${name}/${name}`], "{}"), 415, 415],
  "a charset": [(name) => whole("POST", "/things", [`${JSON_TYPE}; charset=${name}`], "{}"), 415, 415],
  "an accepted type": [(name) => head("GET", "/things", `Accept: ${name}/${name}`), 406, 406],
  "an encoding of Connect GET": [
    (name) => head("GET", `/callers.v1.Things/Get?connect=v1&encoding=${name}&message={}`),
    415,
    415,
  ],
  "a compression of Connect GET": [
    (name) => head("GET", `/callers.v1.Things/Get?connect=v1&encoding=json&message={}&compression=${name}`),
    501,
    501,
  ],
  "a timeout": [(name) => head("GET", "/things", `Grpc-Timeout: 1${name}`), 400, 400],
};

describe.each(Object.entries(UNKNOWN))("%s", (_, [make, status, laxStatus]) => {
  test.each(NAMES)("%s is none", async (name) => {
    const refused = await ask(strict, make(name));
    expect([refused.status, backend.arrivals]).toEqual([status, []]);
    const answer = await ask(lax, make(name));
    expect(answer.status).toBe(laxStatus);
    expect(backend.arrivals).toHaveLength(laxStatus === 200 ? 1 : 0);
    for (const arrival of backend.arrivals) expect(JSON.stringify(messageOf(arrival))).not.toContain(name);
  });
});

describe("metadata", () => {
  test.each(NAMES)("%s is a header, both ways", async (name) => {
    backend.answer = ({ body }, response) =>
      response.writeHead(200, ["content-type", "application/proto", name, "of the backend"]).end(body);
    const { head: text } = await ask(strict, head("GET", "/one/a", `${name}: of the caller`));
    const { rawHeaders = [] } = backend.arrivals[0] ?? {};
    const at = rawHeaders.findIndex((one) => one.toLowerCase() === name.toLowerCase());
    expect(rawHeaders[at + 1]).toBe("of the caller");
    expect(text.toLowerCase()).toContain(`\r\n${name.toLowerCase()}: of the backend\r\n`);
  });

  test.each(NAMES)("%s is a trailer, of a stream that fails", async (name) => {
    const end = JSON.stringify({
      error: { code: name, message: name },
      metadata: Object.fromEntries([[name, [name]]]),
    });
    backend.answer = (_, response) =>
      response
        .writeHead(200, { "content-type": "application/connect+proto" })
        .end(encodeEnvelope(endStreamFlag, Buffer.from(end)));
    const body = Buffer.from(encodeEnvelope(0, Buffer.from("{}"))).toString("latin1");
    const lines = ["Content-Type: application/connect+json"];
    const answer = await ask(strict, whole("POST", "/callers.v1.Things/List", lines, body));
    const last = JSON.parse(String(splitFrames(Buffer.from(answer.body, "latin1")).frames.at(-1)?.data));
    // A code that nobody knows is unknown.
    expect(last.error).toEqual({ code: "unknown", message: name });
    expect(Object.entries(last.metadata)).toEqual([[name.toLowerCase(), [name]]]);
  });
});

describe("what a backend says", () => {
  const failing =
    (error: unknown): Answering =>
    (_, response) =>
      response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify(error));

  test.each(NAMES)("%s is no code, and no type of a detail that is known", async (name) => {
    backend.answer = failing({ code: name, message: name, details: [{ type: name, value: "CgFh" }] });
    const { status, body } = await ask(strict, head("GET", "/one/a"));
    // Connect's table: HTTP 400 without a code is "internal".
    expect([status, JSON.parse(body)]).toEqual([
      500,
      { code: 13, message: name, details: [{ "@type": `type.googleapis.com/${name}`, value: "CgFh" }] },
    ]);
  });

  test.each(NAMES)("%s is no coding and no type of an answer", async (name) => {
    for (const fields of [{ "content-type": `application/${name}` }, { "content-encoding": name }]) {
      backend.answer = (_, response) =>
        response.writeHead(200, { "content-type": "application/proto", ...fields }).end("a");
      expect((await ask(strict, head("GET", "/one/a"))).status).toBe(500);
    }
  });
});
