import { expect, test } from "vitest";
import { layOut } from "../../../bench/profile/flame.ts";
import type { CpuNode, CpuProfile } from "../../../bench/profile/inspector.ts";
import { readFrames, sharesOf } from "../../../bench/profile/shares.ts";
import type { FindFile } from "../../../bench/profile/sources.ts";

function node(id: number, functionName: string, url: string, children: readonly number[] = []): CpuNode {
  return { id, children, callFrame: { functionName, url, lineNumber: 0, columnNumber: 0 } };
}

// Here the url is the file itself.
const findFile: FindFile = ({ url }) => url || undefined;

const PROFILE: CpuProfile = {
  nodes: [
    node(1, "(root)", "", [2, 3, 4, 5]),
    node(2, "(idle)", ""),
    node(3, "(program)", ""),
    node(4, "(garbage collector)", ""),
    node(5, "encode", "src/codec/json.ts", [6, 7]),
    node(6, "copyHeader", "src/protocol/metadata.ts", [8]),
    node(7, "TextDecoder.decode", ""),
    node(8, "Headers", ""),
  ],
  samples: [2, 3, 4, 5, 6, 7, 8],
  timeDeltas: [1000, 20, 10, 30, 5, 20, 15],
};

test("time belongs to the room on top, native calls of metadata.ts to the headers, and idle time to nobody", () => {
  const shares = sharesOf(readFrames(PROFILE, findFile));
  expect([...shares].filter(([, share]) => share > 0)).toEqual([
    ["codec", 0.3],
    ["headers", 0.2],
    ["runtime, called from JavaScript", 0.2],
    ["runtime outside JavaScript", 0.2],
    ["garbage collection", 0.1],
  ]);
});

test("the WebAssembly engine is the codec's", () => {
  const nodes = [
    node(1, "(root)", "", [2, 3]),
    node(2, "decode", "src/wasm/engine.ts"),
    node(3, "pump", "src/index.ts"),
  ];
  const shares = sharesOf(readFrames({ nodes, samples: [2, 3], timeDeltas: [30, 10] }, findFile));
  expect([shares.get("codec"), shares.get("gateway")]).toEqual([0.75, 0.25]);
});

test("a frame lies within its caller, as wide as its time with all that it calls", () => {
  const spans = new Map(layOut(readFrames(PROFILE, findFile)).map((span) => [span.name, span]));
  expect(spans.get("(root)")).toMatchObject({ start: 0, end: 1, depth: 0 });
  const [encode, copy] = [spans.get("encode"), spans.get("copyHeader")];
  expect((encode?.end ?? 0) - (encode?.start ?? 0)).toBeCloseTo(0.7, 12);
  expect(copy?.depth).toBe(2);
  expect(copy?.start).toBeGreaterThanOrEqual(encode?.start ?? 1);
  expect((copy?.end ?? 0) - (copy?.start ?? 0)).toBeCloseTo(0.2, 12);
});
