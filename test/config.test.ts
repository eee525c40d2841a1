import { Code } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { backendOf, formatFault, listsService, readConfig } from "../src/config.ts";
import { type GatewayOptions, PLAIN_OPTIONS, PRESETS } from "../src/options.ts";
import { failure } from "./failure.ts";

const REQUIRED: GatewayOptions = { schema: new Uint8Array(0), backends: { "*": { url: "http://backend.example" } } };

/** Options as somebody without types may give them. */
function read(options: Readonly<Record<string, unknown>>) {
  return readConfig({ ...REQUIRED, ...options } as GatewayOptions);
}

test("the defaults", () => {
  const { warn, backends, ...rest } = readConfig(REQUIRED);
  expect(rest).toEqual({
    serviceConfig: undefined,
    serviceConfigMode: "replace",
    services: undefined,
    rpc: "annotated",
    onFault: "throw",
    unknownFields: "error",
    unknownQuery: "error",
    skippedQuery: new Set(),
    emitDefaults: false,
    useProtoFieldName: false,
    enumAsInteger: false,
    int64AsNumber: false,
    updateMask: true,
    forms: false,
    maxUrlBytes: 16_384,
    maxHeaderBytes: 131_072,
    maxParameters: 1000,
    maxDepth: 100,
    maxJsonBytes: 33_554_432,
    maxBodyBytes: undefined,
    readMaxBytes: 4_194_304,
    maxCompressionRatio: undefined,
    upstreamReadMaxBytes: 4_194_304,
    timeoutMs: undefined,
    streamIdleMs: undefined,
    maxStreams: undefined,
    upstreamGzip: false,
    connectGet: false,
    compressMinBytes: undefined,
    ndjsonBare: false,
    sseIds: false,
    sseRetryMs: undefined,
    sseHeartbeatMs: undefined,
    allowHeaders: undefined,
    denyHeaders: new Set(),
    metadataPrefix: undefined,
    clientIpHeader: undefined,
    challenge: "Bearer",
    cors: undefined,
    policies: [],
    filters: [],
  });
  expect([...backends.keys()]).toEqual(["*"]);
});

test("what follows from another option", () => {
  expect(read({ readMaxBytes: 7 }).upstreamReadMaxBytes).toBe(7);
  expect(read({ readMaxBytes: 7, upstreamReadMaxBytes: 8 }).upstreamReadMaxBytes).toBe(8);
  expect(read({ ignoredQuery: ["a"], systemParams: ["$alt", "a"] }).skippedQuery).toEqual(new Set(["a", "$alt"]));
  expect(read({ allowHeaders: ["X-A"] }).allowHeaders).toEqual(new Set(["x-a"]));
  expect(read({ denyHeaders: ["X-A"] }).denyHeaders).toEqual(new Set(["x-a"]));
  expect(read({ metadataPrefix: "Grpc-Metadata-" }).metadataPrefix).toBe("grpc-metadata-");
});

test("maxStreams goes with streamIdleMs only", () => {
  expect(() => read({ maxStreams: 5 })).toThrow(failure(Code.InvalidArgument, "streamIdleMs"));
  expect(read({ maxStreams: 5, streamIdleMs: 6 })).toMatchObject({ maxStreams: 5, streamIdleMs: 6 });
});

/** For each kind of option, values that it cannot have. */
const WRONG = {
  flag: ["true", 1, null],
  count: [0, -1, 1.5, "5", Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, null],
  text: ["", 5, null, "two\r\nlines", " padded ", "caf\u00e9"],
  name: ["", 5, null, "a b", "a:", "a\r\nb", "caf\u00e9"],
  list: ["a,b", [1], {}, null],
  choice: ["nonsense", true, null],
};
for (const [option, kind] of Object.entries(PLAIN_OPTIONS)) {
  const values: readonly unknown[] = WRONG[typeof kind === "string" ? kind : "choice"];
  test.each(values.map((value) => [value]))(`${option} cannot be %j`, (value) => {
    expect(() => read({ [option]: value })).toThrow(failure(Code.InvalidArgument, option));
  });
  test(`${option} may be undefined`, () => {
    expect(JSON.stringify(read({ [option]: undefined }))).toBe(JSON.stringify(read({})));
  });
}

test.each(["emitDefault", "Services", "constructor", "__proto__x", "toString"])("%s is no option", (option) => {
  expect(() => read({ [option]: 1 })).toThrow(failure(Code.InvalidArgument, option, "no such option"));
});

test("a preset sets what its peer does, and an option that is given counts before it", () => {
  const { warn, backends, ...plain } = read({});
  const lenient = { unknownFields: "ignore", unknownQuery: "ignore" };
  expect(read({ preset: "grpc-gateway" })).toMatchObject({
    ...plain,
    ...lenient,
    emitDefaults: true,
    metadataPrefix: "grpc-metadata-",
  });
  expect(read({ preset: "envoy" })).toMatchObject({ ...plain, ...lenient });
  expect(read({ preset: "grpc-gateway", emitDefaults: false, unknownQuery: "error" })).toMatchObject({
    emitDefaults: false,
    unknownFields: "ignore",
    unknownQuery: "error",
  });
  expect(read({ preset: "grpc-gateway", emitDefaults: undefined }).emitDefaults).toBe(true);
});

test.each(Object.entries(PRESETS))("preset %s sets options that can be given themselves", (preset, options) => {
  expect(JSON.stringify(read(options))).toBe(JSON.stringify(read({ preset })));
});

test.each([[undefined], [null], ["text"], [5]])("the schema cannot be %j", (schema) => {
  expect(() => read({ schema })).toThrow(failure(Code.InvalidArgument, "schema"));
});

test.each([[undefined], [null], [5]])("the options cannot be %j", (options) => {
  expect(() => readConfig(options as never)).toThrow(failure(Code.InvalidArgument, "schema"));
});

test.each<[string, unknown]>([
  ["policies", "all"],
  ["policies", { wrap: () => undefined }],
  ["policies", [undefined]],
  ["policies", [() => undefined]],
  ["policies", [{ reads: "message" }]],
  ["filters", null],
  ["filters", () => undefined],
  ["filters", [{}]],
  ["warn", "stderr"],
])("%s cannot be %j", (option, value) => {
  expect(() => read({ [option]: value })).toThrow(failure(Code.InvalidArgument, option));
});

test("cors: the defaults, and all that can be set", () => {
  const allowOrigins = ["https://app.example", "https://*.app.example", "http://localhost:*"];
  expect(read({ cors: { allowOrigins } }).cors).toEqual({
    allowOrigins,
    allowCredentials: false,
    allowHeaders: [],
    exposeHeaders: [],
    maxAgeS: 7200,
  });
  const all = { allowOrigins, allowCredentials: true, allowHeaders: ["X-A"], exposeHeaders: ["x-b"], maxAgeS: 0 };
  expect(read({ cors: all }).cors).toEqual(all);
  const open = { allowOrigins: ["*"], allowCredentials: false, allowHeaders: ["*"], exposeHeaders: ["*"], maxAgeS: 1 };
  expect(read({ cors: open }).cors).toEqual(open);
});

test.each<[unknown, string]>([
  [null, "cors"],
  ["https://app.example", "cors"],
  [true, "cors"],
  [{}, "cors.allowOrigins"],
  [{ allowOrigins: [] }, "cors.allowOrigins"],
  [{ allowOrigins: "https://app.example" }, "cors.allowOrigins"],
  [{ allowOrigins: [/app/] }, "cors.allowOrigins"],
  [{ allowOrigins: ["https://app.example/"] }, 'browsers send "https://app.example"'],
  [{ allowOrigins: ["https://app.example", "h*"] }, 'cors.allowOrigins: "h*"'],
  [{ allowOrigins: ["null"] }, "cors.allowOrigins"],
  [{ allowOrigins: ["*"], allowCredentials: "false" }, "cors.allowCredentials"],
  [{ allowOrigins: ["*"], allowHeaders: "x-a" }, "cors.allowHeaders"],
  [{ allowOrigins: ["*"], allowHeaders: ["x-a, x-b"] }, "cors.allowHeaders"],
  [{ allowOrigins: ["*"], exposeHeaders: ["x a"] }, "cors.exposeHeaders"],
  [{ allowOrigins: ["*"], exposeHeaders: [1] }, "cors.exposeHeaders"],
  [{ allowOrigins: ["*"], maxAgeS: -1 }, "cors.maxAgeS"],
  [{ allowOrigins: ["*"], maxAgeS: 1.5 }, "cors.maxAgeS"],
  [{ allowOrigins: ["*"], maxAgeS: "7200" }, "cors.maxAgeS"],
  [{ allowOrigins: ["*"], allowMethods: ["GET"] }, "cors.allowMethods: no such option"],
  // Fetch, "CORS protocol and credentials": a star would be a name; and whoever is let in could act as its visitors.
  [{ allowOrigins: ["*"], allowCredentials: true }, "cors.allowCredentials"],
  [{ allowOrigins: ["https://app.example", "*"], allowCredentials: true }, "cors.allowCredentials"],
  [{ allowOrigins: ["https://*.com"], allowCredentials: true }, "cors.allowCredentials"],
  [{ allowOrigins: ["https://app.example"], allowHeaders: ["*"], allowCredentials: true }, "cors.allowCredentials"],
  [{ allowOrigins: ["https://app.example"], exposeHeaders: ["*"], allowCredentials: true }, "cors.allowCredentials"],
])("cors cannot be %j", (cors, mention) => {
  expect(() => read({ cors })).toThrow(failure(Code.InvalidArgument, mention));
});

test("a number that JSON cannot write is shown all the same", () => {
  expect(() => read({ timeoutMs: Number.POSITIVE_INFINITY })).toThrow(failure(Code.InvalidArgument, "Infinity"));
  expect(() => read({ timeoutMs: 5n })).toThrow(failure(Code.InvalidArgument, "timeoutMs: 5 is"));
});

test.each(["http://joe@a.example", "http://:s3cret@a.example", "http://joe:s3cret@a.example"])(
  "a backend cannot be at %s, and its password is not repeated",
  (url) => {
    const secretKept = expect.not.objectContaining({ message: expect.stringContaining("s3cret") });
    const start = () => read({ backends: { "*": { url } } });
    expect(start).toThrow(failure(Code.InvalidArgument, "password"));
    expect(start).toThrow(secretKept);
  },
);

test.each<[unknown, string]>([
  [undefined, "backends"],
  [{}, "backends"],
  [{ "*": null }, 'backends["*"]'],
  [{ "*": "http://a.example" }, 'backends["*"]'],
  [{ "*": {} }, 'backends["*"]'],
  [{ "a.B": { url: "a.example" } }, 'backends["a.B"]'],
  [{ "*": { url: "ftp://a.example" } }, "ftp"],
  [{ "*": { url: "http://a.example/?x=1" } }, "x=1"],
  [{ "*": { url: "http://a.example/#x" } }, "#x"],
  [{ "*": { url: "http://a.example", protocol: "soap" } }, "soap"],
  [{ "*": { url: "http://a.example", timeout: 5 } }, "timeout"],
  [{ "*": { url: "http://a.example", fetch: "fetch" } }, "fetch"],
])("the backends cannot be %j", (backends, mention) => {
  expect(() => read({ backends })).toThrow(failure(Code.InvalidArgument, mention));
});

test.each([
  ["http://a.example", "http://a.example"],
  ["http://a.example/", "http://a.example"],
  ["https://a.example:8443/some/prefix//", "https://a.example:8443/some/prefix"],
])("%s is called at %s", (url, called) => {
  expect(read({ backends: { "*": { url } } }).backends.get("*")?.url).toBe(called);
});

test.each([
  ["acme.shop.v1.Orders", "exact"],
  ["acme.shop.v1.Items", "shop"],
  ["acme.shop.v1.deep.Items", "shop"],
  ["acme.other.Items", "acme"],
  ["acmeother.Items", "any"],
  ["Items", "any"],
])("%s is at %s: the most specific entry counts", (service, host) => {
  const names = { "acme.shop.v1.Orders": "exact", "acme.shop.v1.*": "shop", "acme.*": "acme", "*": "any" };
  const backends = Object.fromEntries(Object.entries(names).map(([name, host]) => [name, { url: `http://${host}` }]));
  expect(backendOf(read({ backends }), service)?.url).toBe(`http://${host}`);
});

test("without an entry that fits there is no backend", () => {
  expect(backendOf(read({ backends: { "acme.*": { url: "http://a" } } }), "other.Items")).toBeUndefined();
});

test.each([
  [["acme.v1.Shop"], "acme.v1.Shop", true],
  [["acme.v1.Shop"], "acme.v1.Shops", false],
  [["acme.v1.*"], "acme.v1.Shop", true],
  [["acme.*"], "acme.v1.Shop", true],
  [["acme.*"], "acmeother.Shop", false],
  [["*"], "acme.v1.Shop", true],
  [[], "acme.v1.Shop", false],
])("%j lists %s: %j", (services, service, listed) => {
  expect(listsService(services, service)).toBe(listed);
});

test("a fault is one line that says what and where", () => {
  const fault = {
    file: "a.proto",
    method: "a.B.C",
    template: "/v1/{x",
    message: "unclosed",
    severity: "error",
  } as const;
  expect(formatFault(fault)).toBe('a.proto: a.B.C "/v1/{x": unclosed');
  expect(formatFault({ ...fault, line: 7, column: 5 })).toBe('a.proto:7: a.B.C "/v1/{x" at column 5: unclosed');
  expect(formatFault({ ...fault, fix: "add }" })).toBe('a.proto: a.B.C "/v1/{x": unclosed; add }');
});
