/**
 * The client under test, as the suite's runner starts it: the reference client, whose calls go through the gateway.
 *
 * Arguments: file of the FileDescriptorSet, the program before the Worker, the reference client's program, the protocol that
 * it is to speak, the protocol that the gateway speaks to the reference server.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { passesThrough, type RunningGateway, startGateway } from "./gateway.ts";
import {
  type ClientRequest,
  CODEC_PROTO,
  Language,
  PROTOCOLS,
  type ProtocolName,
  readMessages,
  withLength,
} from "./messages.ts";

/** What the reference server is to see of a call that the gateway translates: binary messages, not compressed. */
const TRANSLATED: Readonly<Record<string, string>> = {
  "x-expect-codec": String(CODEC_PROTO),
  "x-expect-compression": "1",
};

const [setFile = "", front = "", program = "", ...protocols] = process.argv.slice(2);
const [caller = "connect", upstream = "connect"] = protocols as ProtocolName[];
const set = await readFile(setFile);
const language = new Language(set);

/** By the reference server's port. */
const gateways = new Map<number, RunningGateway>();
const client = spawn(program, { stdio: ["pipe", "inherit", "inherit"] });
const ended = once(client, "exit");

process.once("SIGTERM", async () => {
  client.kill();
  await stop();
  process.exit(1);
});
for await (const bytes of readMessages(process.stdin)) {
  const request = language.parse("ClientCompatRequest", bytes);
  await redirect(request);
  client.stdin.write(withLength(language.format("ClientCompatRequest", request)));
}
client.stdin.end();
const [code] = await ended;
await stop();
process.exitCode = code;

/** Sends the call to the gateway, in the caller's protocol. */
async function redirect(request: ClientRequest): Promise<void> {
  const backend = { port: request.port, protocol: upstream };
  const gateway = gateways.get(backend.port) ?? (await startGateway({ set, front }, backend, { connectGet: true }));
  gateways.set(backend.port, gateway);
  request.port = gateway.port;
  request.httpVersion = 1;
  request.protocol = PROTOCOLS[caller];
  if (request.codec === CODEC_PROTO && passesThrough(caller, upstream)) return;
  for (const header of request.requestHeaders) {
    const expected = TRANSLATED[header.name];
    if (expected !== undefined) header.value = [expected];
  }
}

async function stop(): Promise<void> {
  await Promise.all([...gateways.values()].map((gateway) => gateway.stop()));
}
