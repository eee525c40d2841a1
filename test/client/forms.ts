/** Forms of the tests: written, and sent. */
import type { ClientOptions } from "../../src/client/exchange.ts";
import { requestMessage, restExchange } from "./shop.ts";

export const URLENCODED = { "content-type": "application/x-www-form-urlencoded" };
export const MULTIPART = { "content-type": "multipart/form-data; boundary=b" };

/** The head behind `form-data; `, further lines of it, and the content. */
export type Part = readonly [head: string, content: string];

/** The request message of a form that is sent. */
export function send(
  target: string,
  body: BodyInit,
  headers: Record<string, string>,
  options: Partial<ClientOptions> = {},
) {
  return requestMessage(restExchange(target, { method: "POST", body, headers }, { forms: true, ...options }));
}

/** A form of multipart/form-data. */
export function formText(boundary: string, ...parts: readonly Part[]): string {
  const lines = parts.map(
    ([head, content]) => `--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`,
  );
  return `${lines.join("")}--${boundary}--\r\n`;
}
