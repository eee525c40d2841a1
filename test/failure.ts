/** A matcher for what is refused: the code of a ConnectError, and what its message mentions. */
import { Code, ConnectError } from "@connectrpc/connect";
import { expect } from "vitest";

export function failure(code: Code, ...mentions: readonly string[]): unknown {
  return expect.toSatisfy(
    (error) =>
      error instanceof ConnectError && error.code === code && mentions.every((text) => error.rawMessage.includes(text)),
    `a ConnectError ${Code[code]} mentioning ${mentions.join(", ")}`,
  );
}
