/**
 * `node memory-run.ts encode|decode SET INPUT OPTIONS`: one call of the codec of bench.v1.Tree in a process of its own.
 * Prints bytes of memory that it took at its peak, and bytes of the output, 0 when it was refused.
 */
import { readFileSync } from "node:fs";
import { createFileRegistry, type DescMessage, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { createCodec } from "../../src/codec-api.ts";

const [, , operation, set = "", file = "", options = "{}"] = process.argv;
const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(set)));
const codec = createCodec(registry.getMessage("bench.v1.Tree") as DescMessage, JSON.parse(options));
const input = new Uint8Array(readFileSync(file));
const before = process.memoryUsage.rss();
let output = 0;
try {
  output = codec[operation as "encode" | "decode"](input).length;
} catch {
  // Refused: the memory counts all the same.
}
// The peak is told in kilobytes.
console.log(JSON.stringify({ peak: process.resourceUsage().maxRSS * 1024 - before, output }));
