/**
 * Cold start: from nothing to the first and to the hundredth transcoded call of an isolate of its own in workerd, by a
 * schema image and by descriptors.
 *
 * The clock stands outside, since that of the runtime ticks in whole milliseconds; what a Worker without a gateway takes
 * for as many requests is subtracted. Everything takes turns, so that what else the machine does falls on all alike.
 */
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from "miniflare";
import { COMPATIBILITY_DATE } from "../src/node/dev.ts";
import { writeImage } from "../src/schema/image-write.ts";
import { readSchema } from "../src/schema/read.ts";
import { compileSet } from "../test/proto.ts";
import { buildSet } from "../test/strangers/apis.ts";

const ROUNDS = 15;
const CALLS = 100;

const SMALL = `syntax = "proto3";
package bench.v1;
import "google/api/annotations.proto";
service Users {
  rpc Put(User) returns (User) { option (google.api.http) = { put: "/v1/users/{id}" body: "*" }; }
  rpc List(ListRequest) returns (UserList) { option (google.api.http) = { get: "/v1/users" }; }
}
enum Status { STATUS_UNSPECIFIED = 0; STATUS_ACTIVE = 1; STATUS_SUSPENDED = 2; }
message Address { string street = 1; string city = 2; string country = 3; int32 zip = 4; double lat = 5; double lng = 6; }
message User {
  int64 id = 1; string name = 2; string email = 3; bool verified = 4; Status status = 5; int32 age = 6; double score = 7;
  repeated Address addresses = 8; repeated string tags = 9; map<string, string> attributes = 10; bytes hash = 11;
  uint64 created_at_ms = 12; repeated int32 scores = 13;
}
message UserList { repeated User users = 1; string next_page_token = 2; }
message ListRequest { int32 page_size = 1; string page_token = 2; }
`;

const ADDRESS = {
  street: "12 St James's Square",
  city: "London",
  country: "GB",
  zip: 12345,
  lat: 51.5072,
  lng: -0.1276,
};
const USER = {
  name: "Ada Lovelace",
  email: "ada@example.com",
  verified: true,
  status: "STATUS_ACTIVE",
  age: 36,
  score: 98.6,
  addresses: [ADDRESS, ADDRESS, ADDRESS],
  tags: ["mathematics", "computing", "poetry"],
  attributes: { theme: "dark", locale: "en-GB" },
  hash: "3q2+7wECAwQFBgcICQoLDA==",
  createdAtMs: "1700000000000",
  scores: [1, 2, 3, 500, 70000],
};
const TOPIC = {
  labels: { team: "edge", stage: "test" },
  messageStoragePolicy: { allowedPersistenceRegions: ["europe-west1", "europe-west4"] },
  kmsKeyName: "projects/p/locations/l/keyRings/r/cryptoKeys/k",
  schemaSettings: { schema: "projects/p/schemas/s", encoding: "JSON" },
  messageRetentionDuration: "86400s",
};

interface Fixture {
  readonly name: string;
  readonly set: Uint8Array;
  readonly call: { readonly method: string; readonly path: string; readonly body: string };
}

interface Subject {
  /** In the path that the Worker which makes isolates is asked for. */
  readonly name: string;
  readonly script: string;
  readonly schema: Uint8Array;
  readonly call: object;
  /** Milliseconds of each round: until the first answer, and from there to the hundredth. */
  readonly rounds: { first: number; rest: number }[];
}

export async function run(): Promise<void> {
  const fixtures: readonly Fixture[] = [
    {
      name: "4 messages",
      set: await compileSet(SMALL),
      call: { method: "PUT", path: "/v1/users/1234567890123", body: JSON.stringify(USER) },
    },
    {
      name: "Pub/Sub + Spanner",
      set: await buildSet("google/pubsub", "google/spanner"),
      call: { method: "PUT", path: "/v1/projects/p/topics/t", body: JSON.stringify(TOPIC) },
    },
  ];
  const scripts = {
    image: await bundle("image"),
    descriptors: await bundle("descriptors"),
    empty: await bundle("empty"),
  };
  const pairs = fixtures.map(({ set, call, ...fixture }, i) => ({
    ...fixture,
    image: createSubject(`image${i}`, scripts.image, writeImage(readSchema(set)), call),
    descriptors: createSubject(`descriptors${i}`, scripts.descriptors, set, call),
    empty: createSubject(`empty${i}`, scripts.empty, new Uint8Array(), call),
  }));
  await measure(pairs.flatMap(({ image, descriptors, empty }) => [empty, image, descriptors]));

  console.log(`cold: milliseconds in a fresh isolate, median of ${ROUNDS}, a Worker without a gateway subtracted`);
  console.log("  schema, kB                      image  descriptors   ratio");
  const results = pairs.map(({ name, image, descriptors, empty }) => {
    const [own, other] = [image, descriptors].map((subject) => medians(subject, empty)) as [Medians, Medians];
    printRow(name, image.schema.length / 1000, descriptors.schema.length / 1000);
    printRow("  to the first call", own.first, other.first);
    printRow(`  to call ${CALLS}`, own.all, other.all);
    return {
      schema: name,
      bytes: { image: image.schema.length, descriptors: descriptors.schema.length },
      firstMs: { image: own.first, descriptors: other.first, ratio: other.first / own.first },
      hundredthMs: { image: own.all, descriptors: other.all, ratio: other.all / own.all },
    };
  });
  const scriptBytes = { image: scripts.image.length, descriptors: scripts.descriptors.length };
  const rounded = (_: string, value: unknown) => (typeof value === "number" ? Number(value.toFixed(2)) : value);
  console.log(`result ${JSON.stringify({ bench: "cold", rounds: ROUNDS, scriptBytes, results }, rounded)}`);
}

function createSubject(name: string, script: string, schema: Uint8Array, call: object): Subject {
  return { name, script, schema, call, rounds: [] };
}

async function measure(subjects: readonly Subject[]): Promise<void> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("cold/loader.ts", import.meta.url))],
    write: false,
    format: "esm",
  });
  const bound = subjects.map(({ name, script, schema, call }) => [name, { script, schema: toBase64(schema), call }]);
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      modules: [{ type: "ESModule", path: "loader.js", contents: outputFiles[0]?.text ?? "" }],
      workerLoaders: { LOADER: {} },
      bindings: { SUBJECTS: Object.fromEntries(bound), COMPATIBILITY_DATE },
      compatibilityDate: COMPATIBILITY_DATE,
      log: new Log(LogLevel.NONE),
      cf: false,
      telemetry: { enabled: false },
    }),
  );
  try {
    const url = await miniflare.ready;
    // The first round warms up the Worker that makes isolates and our own connection, and is thrown away.
    for (let round = 0; round <= ROUNDS; round++) {
      for (const { name, rounds } of subjects) {
        const first = await time(new URL(`/${name}/${round}/1`, url));
        const rest = await time(new URL(`/${name}/${round}/${CALLS - 1}`, url));
        if (round > 0) rounds.push({ first, rest });
      }
    }
  } finally {
    await miniflare.dispose();
  }
}

/** @throws Error when the calls failed: then the time would mean nothing. */
async function time(url: URL): Promise<number> {
  const start = performance.now();
  const response = await fetch(url);
  const text = await response.text();
  const ms = performance.now() - start;
  if (!response.ok) throw new Error(`${url.pathname}: ${response.status} ${text}`);
  return ms;
}

interface Medians {
  readonly first: number;
  readonly all: number;
}

/** Round by round against the Worker without a gateway, then the median. */
function medians({ rounds }: Subject, empty: Subject): Medians {
  const differences = rounds.map(({ first, rest }, i) => {
    const nothing = empty.rounds[i] ?? { first: 0, rest: 0 };
    return { first: first - nothing.first, all: first + rest - nothing.first - nothing.rest };
  });
  return { first: median(differences.map(({ first }) => first)), all: median(differences.map(({ all }) => all)) };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

function printRow(label: string, image: number, descriptors: number): void {
  const ratio = (descriptors / image).toFixed(1);
  console.log(
    `  ${label.padEnd(28)} ${image.toFixed(1).padStart(8)} ${descriptors.toFixed(1).padStart(12)} ${ratio.padStart(7)}`,
  );
}

async function bundle(name: "image" | "descriptors" | "empty"): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(`cold/${name}.ts`, import.meta.url))],
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2024",
    conditions: ["workerd", "worker", "browser"],
    external: ["*.bin"],
    logLevel: "silent",
    write: false,
  });
  // Both name their schema as a module beside them.
  return (outputFiles[0]?.text ?? "").replace("../../gen/schema.bin", "schema.bin");
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}
