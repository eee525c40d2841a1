/**
 * The program that Google's conformance runner tests: `node testee.ts SET.binpb [CODEC.wasm]`, the descriptors of its
 * messages, and the engine; without one TypeScript does it all.
 *
 * Over stdin and stdout: the length in 4 bytes, little endian, then a conformance.ConformanceRequest; the response
 * likewise; again until stdin ends.
 */
import { readFileSync } from "node:fs";
import { stdin, stdout } from "node:process";
import { useWasm } from "../../src/codec/wasm-engine.ts";
import { createTestee } from "./answer.ts";

const LENGTH_BYTES = 4;

const [, , set, engine] = process.argv;
if (set === undefined) throw new Error("usage: testee.ts SET.binpb [CODEC.wasm]");
if (engine !== undefined) useWasm(new WebAssembly.Module(readFileSync(engine)));
const answer = createTestee(readFileSync(set));

let pending = Buffer.alloc(0);
for await (const chunk of stdin) {
  pending = Buffer.concat([pending, chunk]);
  for (let end = endOfRequest(pending); end <= pending.length; end = endOfRequest(pending)) {
    const response = answer(pending.subarray(LENGTH_BYTES, end));
    pending = pending.subarray(end);
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt32LE(response.length);
    stdout.write(Buffer.concat([length, response]));
  }
}

/** Infinity while the length itself is not there. */
function endOfRequest(bytes: Buffer): number {
  return bytes.length < LENGTH_BYTES ? Number.POSITIVE_INFINITY : LENGTH_BYTES + bytes.readUInt32LE(0);
}
