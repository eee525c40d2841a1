import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { expect, test } from "vitest";
import { checkAnswer, type Dialect, formatCall } from "../../../bench/peers/dialect.ts";
import { echo, items, upload } from "../../../bench/peers/load.ts";
import { ITEM, readShop } from "../../../bench/peers/shop.ts";
import { compileProtos } from "../../../src/node/protos.ts";

const ROOT = new URL("../../../", import.meta.url);

const folder = await mkdtemp(join(tmpdir(), "isthmus-dialect-"));
await cp(new URL("bench/peers/peers.proto", ROOT), join(folder, "peers.proto"));
await cp(new URL("proto/google", ROOT), join(folder, "google"), { recursive: true });
const shop = readShop(await compileProtos(folder));
await rm(folder, { recursive: true });

/** By connect-es. */
function envelopes(flags: readonly number[], message: Uint8Array): Buffer {
  return Buffer.concat(flags.map((flag) => encodeEnvelope(flag, message)));
}

test.each(["connect-binary", "grpc-web"] as const)("an upload in %s is one envelope for each message", (dialect) => {
  const { body = [] } = formatCall(shop, dialect, upload(3));
  expect(Buffer.from(body)).toEqual(envelopes([0, 0, 0], shop.toWire("Item", ITEM)));
});

test("an upload in REST is lines, or one array", () => {
  const text = (dialect: Dialect): string => new TextDecoder().decode(formatCall(shop, dialect, upload(2)).body);
  expect(
    text("rest")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual([ITEM, ITEM]);
  expect(JSON.parse(text("rest-array"))).toEqual([ITEM, ITEM]);
});

test("an answer in gRPC-Web is its messages, whatever the trailers say, and another message is refused", () => {
  const ask = echo(items(1));
  const answer = (count: number): Uint8Array =>
    Buffer.concat([
      encodeEnvelope(0, shop.toWire("Batch", { items: items(count) })),
      encodeEnvelope(0x80, new TextEncoder().encode("grpc-status: 0\r\n")),
    ]);
  checkAnswer(shop, "grpc-web", ask, answer(1));
  expect(() => checkAnswer(shop, "grpc-web", ask, answer(2))).toThrow("something else");
});
