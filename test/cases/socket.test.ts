/** The runner's own eyes: a transfer that broke must not look like one that ended. */
import { once } from "node:events";
import net, { type AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { type Answer, exchange } from "./socket.ts";

const servers: net.Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** @param end how the connection ends after the text: "end" FIN, "reset" RST, "open" not at all. */
async function answerOf(text: string, end: "end" | "reset" | "open", method = "GET"): Promise<Answer> {
  const server = net.createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => {
      socket.write(text, () => {
        if (end === "end") socket.end();
        if (end === "reset") setTimeout(() => socket.resetAndDestroy(), 20);
      });
    });
  });
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const outgoing = { method, path: "/", headers: [["host", "a"]] as const, body: null, chunked: false };
  return exchange((server.address() as AddressInfo).port, outgoing, 500, () => {}).answer;
}

const CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

it("reads a body to the end of its chunks, its length or the connection", async () => {
  const chunked = await answerOf(`${CHUNKED}2\r\nab\r\n1\r\nc\r\n0\r\n\r\n`, "open");
  const sized = await answerOf("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", "open");
  const unsized = await answerOf("HTTP/1.1 200 OK\r\n\r\nabc", "end");
  for (const answer of [chunked, sized, unsized]) {
    expect({ body: answer.body.toString(), clean: answer.clean }).toEqual({ body: "abc", clean: true });
  }
});

it("tells a broken transfer, and keeps what came", async () => {
  const unfinished = await answerOf(`${CHUNKED}2\r\nab\r\n`, "end");
  const short = await answerOf("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", "end");
  const reset = await answerOf("HTTP/1.1 200 OK\r\n\r\nab", "reset");
  for (const answer of [unfinished, short, reset]) {
    expect({ body: answer.body.toString(), clean: answer.clean, late: answer.late }).toEqual({
      body: "ab",
      clean: false,
      late: false,
    });
  }
});

it("tells a transfer that goes on from one that broke", async () => {
  expect(await answerOf(`${CHUNKED}2\r\nab\r\n`, "open")).toMatchObject({ clean: false, late: true });
});

it("tells that no answer came", async () => {
  expect(await answerOf("HTTP/1.1 200 OK\r\nX-A: b", "end")).toMatchObject({ status: 0, clean: false });
});

it("expects no body where HTTP has none, and skips interim answers", async () => {
  const head = await answerOf("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", "open", "HEAD");
  const empty = await answerOf(
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\nX-A:  b \r\nX-A: c\r\n\r\n",
    "open",
  );
  expect(head).toMatchObject({ status: 200, clean: true });
  expect(empty).toMatchObject({
    status: 204,
    clean: true,
    headers: [
      ["x-a", "b"],
      ["x-a", "c"],
    ],
  });
});
