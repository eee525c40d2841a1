/** `npm start` as its reader sees it: every command that it prints is run as printed. */
import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compileProtos } from "../../src/node/protos.ts";
import { type Command, runCommand, runShell } from "../process.ts";

const ANY_PORTS = ["--port", "0", "--backend-port", "0", "--h2c-port", "0"];
const start = (args: readonly string[]) => runCommand(["bin/run.js", "examples/library/start.ts", ...args]);

const emma = { name: "shelves/novels/books/emma", title: "Emma", authors: ["Jane Austen"] };
const dracula = { title: "Dracula", authors: ["Bram Stoker"], pages: 418, copiesSold: "9007199254740993" };

const events = [{ book: { title: "Emma" } }, { book: {} }];
const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");

/** What each printed command answers, in the order in which they stand. */
const ANSWERS: Readonly<Record<string, unknown>> = {
  list: { shelves: [{ name: "shelves/history" }, { name: "shelves/nature" }, { name: "shelves/novels" }] },
  "a page": { books: [emma, { title: "Middlemarch" }], nextPageToken: expect.stringMatching(/./) },
  "the next page": { books: [{ title: "Moby-Dick" }] },
  get: emma,
  create: { name: "shelves/sea", theme: "The sea" },
  "create below it": { name: "shelves/sea/books/dracula", ...dracula },
  "change one field": { name: "shelves/sea/books/dracula", ...dracula, genre: "NOVEL" },
  "a custom verb": { name: "shelves/nature/books/dracula", ...dracula, genre: "NOVEL" },
  delete: {},
  "an error with details": {
    code: 3,
    details: [
      {
        "@type": "type.googleapis.com/google.rpc.BadRequest",
        fieldViolations: ["book_id", "book.title", "book.authors", "book.pages"].map((field) => ({ field })),
      },
    ],
  },
  "a stream, as one array": (text: string) => expect(JSON.parse(text)).toMatchObject(events),
  "a stream, line by line": (text: string) =>
    expect(lines(text).map((line) => JSON.parse(line))).toMatchObject(events.map((result) => ({ result }))),
  "a stream of events": (text: string) => {
    const data = lines(text).filter((line) => line.startsWith("data: "));
    expect(data.map((line) => JSON.parse(line.slice(6)))).toMatchObject([...events, {}]);
    expect(text).toMatch(/\nevent: end\ndata: \{\}\n\n$/);
  },
  "Connect, JSON": emma,
  "Connect GET": emma,
};

describe("npm start", () => {
  let command: Command;
  beforeAll(async () => {
    command = start(ANY_PORTS);
    await command.waitFor(/Ctrl-C ends both\.\n/);
  }, 30_000);
  afterAll(() => command.kill());

  test("prints commands that answer as they should", { timeout: 30_000 }, async () => {
    const printed = [...command.output.matchAll(/^# (.*)\n(curl .*)\n/gm)].map(
      ([, title, line]) => [title, line] as const,
    );
    expect(printed.map(([title]) => title)).toEqual(Object.keys(ANSWERS));
    for (const [title = "", line = ""] of printed) {
      const { stdout } = await promisify(execFile)("sh", ["-c", line]);
      const answer = ANSWERS[title];
      if (typeof answer === "function") answer(stdout);
      else expect(JSON.parse(stdout), line).toMatchObject(answer as object);
    }
  });

  test("speaks Connect and gRPC-Web; its backend gRPC too", { timeout: 30_000 }, async () => {
    const [, gateway = ""] = await command.waitFor(/gateway +(\S+)\n/);
    const [, http1 = "", h2c = ""] = await command.waitFor(/backend +(\S+) \(HTTP\/1\.1\), (\S+) \(HTTP\/2\)/);
    const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, await compileProtos("proto")));
    const service = registry.getService("example.library.v1.LibraryService");
    if (!service) throw new Error("no such service");
    const transports = [
      createConnectTransport({ baseUrl: gateway, httpVersion: "1.1" }),
      createConnectTransport({ baseUrl: gateway, httpVersion: "1.1", useBinaryFormat: false }),
      createGrpcWebTransport({ baseUrl: gateway, httpVersion: "1.1" }),
      createConnectTransport({ baseUrl: http1, httpVersion: "1.1" }),
      createGrpcWebTransport({ baseUrl: http1, httpVersion: "1.1" }),
      createConnectTransport({ baseUrl: h2c, httpVersion: "2" }),
      createGrpcTransport({ baseUrl: h2c }),
    ];
    for (const transport of transports) {
      const client = createClient(service, transport) as Record<string, (request: object) => unknown>;
      expect(await client.getShelf?.({ name: "shelves/novels" })).toMatchObject({ theme: "Long stories" });
      const events = client.watchBooks?.({ parent: "shelves/novels", maxEvents: 3 }) as AsyncIterable<unknown>;
      const titles = [];
      for await (const event of events) titles.push(event);
      expect(titles).toMatchObject([{ book: { title: "Emma" } }, {}, { book: { title: "Moby-Dick" } }]);
      await expect(client.getBook?.({ name: "x" })).rejects.toThrow("[not_found]");
    }
  });

  test("ends with Ctrl-C, and nothing is left", { timeout: 30_000 }, async () => {
    command.signal("SIGINT");
    await command.ended;
    await command.groupGone();
  });
});

test("npm start ends when the shell that npm put in between is ended alone", { timeout: 30_000 }, async () => {
  const line = `"$0" bin/run.js examples/library/start.ts ${ANY_PORTS.join(" ")}; exit $?`;
  const command = runShell(line, { npm_lifecycle_event: "start" });
  try {
    await command.waitFor(/Ctrl-C ends both\.\n/);
    command.signal("SIGTERM");
    await command.groupGone();
  } finally {
    command.kill();
  }
});

test.each(["port", "backend-port", "h2c-port"])("--%s is taken", { timeout: 30_000 }, async (flag) => {
  const other = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => other.on("listening", resolve));
  const { port } = other.address() as AddressInfo;
  const command = start([...ANY_PORTS, `--${flag}`, String(port)]);
  try {
    expect(await command.ended).toBe(1);
    expect(command.output).toMatch(
      new RegExp(`^error: port ${port} is taken: choose another, .*--${flag} \\d+\\)\\n$`),
    );
  } finally {
    command.kill();
    other.close();
  }
});
