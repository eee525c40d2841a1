/** What a page does with the example's API. It is bundled, and runs in the browser. */
import { createFileRegistry, type FileRegistry, fromBinary } from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";

const WATCH = "/v1/shelves/novels/books:watch";

export interface Setting {
  /** Origin of the gateway. */
  readonly base: string;
  /** A FileDescriptorSet in base64. */
  readonly set: string;
}

/** What a scenario tells the test: plain values. */
export type Scenario = (setting: Setting) => Promise<unknown>;

interface Client {
  getShelf(request: object): Promise<{ theme: string }>;
  getBook(request: object): Promise<unknown>;
  watchBooks(request: object, options: object): AsyncIterable<{ book: { title: string } }>;
}

async function callThrough(transport: Transport, { set }: Setting): Promise<unknown> {
  const registry: FileRegistry = createFileRegistry(fromBinary(FileDescriptorSetSchema, base64Decode(set)));
  const service = registry.getService("example.library.v1.LibraryService");
  if (!service) throw new Error("no service");
  // Its type is known to generated code alone.
  const client = createClient(service, transport) as unknown as Client;
  const { theme } = await client.getShelf({ name: "shelves/novels" });
  const titles: string[] = [];
  const leaving = new AbortController();
  let end = "ended";
  try {
    // Without maxEvents it ends when its caller leaves.
    const events = client.watchBooks({ parent: "shelves/novels" }, { signal: leaving.signal });
    for await (const { book } of events) {
      titles.push(book.title);
      if (titles.length === 3) leaving.abort();
    }
  } catch (error) {
    end = Code[ConnectError.from(error).code] ?? "";
  }
  const failure = await client.getBook({ name: "x" }).catch(ConnectError.from);
  return { theme, titles, end, failure: failure instanceof ConnectError ? Code[failure.code] : "none" };
}

async function readLines({ base }: Setting): Promise<unknown> {
  const leaving = new AbortController();
  const header = { accept: "application/x-ndjson", "x-request-id": "1" };
  const response = await fetch(base + WATCH, { headers: header, signal: leaving.signal });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  // The stream goes on: what is here has come while it is open.
  while (text.split("\n").length < 3) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done) throw new Error(`ended after ${text}`);
    text += value;
  }
  leaving.abort();
  const lines = text.split("\n").slice(0, 2);
  return { type: response.headers.get("content-type"), lines: lines.map((line) => JSON.parse(line)) };
}

function readEvents({ base }: Setting): Promise<unknown> {
  const events: unknown[] = [];
  const source = new EventSource(`${base}${WATCH}?max_events=2`);
  return new Promise((resolve, reject) => {
    source.onmessage = ({ data }) => events.push(JSON.parse(data));
    source.addEventListener("end", () => {
      source.close();
      resolve(events);
    });
    source.onerror = () => reject(new Error(`state ${source.readyState} after ${JSON.stringify(events)}`));
  });
}

/** A status other than 200 is the end for an EventSource (WHATWG HTML §9.2.2): it does not come back. */
function failEvents({ base }: Setting): Promise<unknown> {
  const source = new EventSource(`${base}/v1/shelves/none/books:watch`);
  return new Promise((resolve) => {
    source.onerror = () => resolve(source.readyState === EventSource.CLOSED ? "closed" : "connects again");
  });
}

function openSocket(url: string): Promise<unknown> {
  const frames: unknown[] = [];
  const socket = new WebSocket(url);
  return new Promise((resolve) => {
    socket.onmessage = ({ data }) => frames.push(JSON.parse(data));
    socket.onclose = ({ code, reason }) => resolve({ frames, code, reason });
  });
}

const scenarios: Readonly<Record<string, Scenario>> = {
  connect: (setting) => callThrough(createConnectTransport({ baseUrl: setting.base, useBinaryFormat: true }), setting),
  "connect-json": (setting) => callThrough(createConnectTransport({ baseUrl: setting.base }), setting),
  "grpc-web": (setting) => callThrough(createGrpcWebTransport({ baseUrl: setting.base }), setting),
  ndjson: readLines,
  events: readEvents,
  "events-fail": failEvents,
  socket: ({ base }) => openSocket(`${base.replace("http", "ws")}${WATCH}?max_events=2`),
  "socket-fail": ({ base }) => openSocket(`${base.replace("http", "ws")}/v1/shelves/none/books:watch`),
  metadata: async ({ base }) => {
    const response = await fetch(`${base}/v1/shelves/none`, { headers: { authorization: "Bearer x" } });
    return { status: response.status, error: await response.json() };
  },
};

Object.assign(globalThis, { scenarios });
