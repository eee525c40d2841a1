import { once } from "node:events";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { exchange } from "../../../bench/bandwidth/exchange.ts";

test("every byte of both ways is counted, content apart from the rest", async () => {
  const head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  let received = 0;
  const server = createServer((socket) => {
    let text = "";
    socket.on("data", (data) => {
      received += data.length;
      text += data;
      if (text.endsWith("\r\n\r\nhello")) socket.write(`${head}3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n`);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  const body = new TextEncoder().encode("hello");
  const { status, bytes } = await exchange(port, { method: "POST", path: "/", header: {}, body, status: 200 });
  server.close();
  expect(status).toBe(200);
  // Two chunks and the last one: size, CRLF, content, CRLF (RFC 9112 §7.1).
  const framing = 3 + 2 + (3 + 2) + (3 + 2);
  expect(bytes).toEqual({ bodyUp: 5, bodyDown: 7, headUp: received - 5, headDown: head.length + framing });
});
