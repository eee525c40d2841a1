/**
 * The server under test, as the suite's runner starts it: the reference server with the gateway before it.
 *
 * Arguments: file of the FileDescriptorSet, the program before the Worker, the reference server's program, the protocol that
 * the gateway speaks to it.
 */
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { passesThrough, startGateway } from "./gateway.ts";
import { Language, PROTOCOLS, type ProtocolName, readMessage, withLength } from "./messages.ts";

const [setFile = "", front = "", program = "", upstream] = process.argv.slice(2);
const protocol = upstream as ProtocolName;
const set = await readFile(setFile);
const language = new Language(set);

const request = language.parse("ServerCompatRequest", await readMessage(process.stdin));
const limit = request.messageReceiveLimit;
// Where the gateway reads the messages, it alone has to hold the limit. What passes through it does not bound.
const caller = request.protocol === PROTOCOLS.connect ? "connect" : "grpc-web";
if (!passesThrough(caller, protocol)) request.messageReceiveLimit = 0;
request.httpVersion = protocol === "grpc" ? 2 : 1;

const server = spawn(program, { stdio: ["pipe", "pipe", "inherit"] });
process.once("exit", () => server.kill());
server.stdin.end(withLength(language.format("ServerCompatRequest", request)));
const response = language.parse("ServerCompatResponse", await readMessage(server.stdout));

// An answer of the suite repeats the request, so it is the larger of the two.
const limits = { readMaxBytes: limit, upstreamReadMaxBytes: 4 * limit };
const gateway = await startGateway({ set, front }, { port: response.port, protocol }, limits);
process.once("SIGTERM", async () => {
  await gateway.stop();
  process.exit(0);
});
response.port = gateway.port;
process.stdout.write(withLength(language.format("ServerCompatResponse", response)));
