/** A port that somebody else listens on. */
export class PortTakenError extends Error {
  readonly port: number;

  constructor(port: number) {
    super(`port ${port} is taken`);
    this.port = port;
  }
}

/** @returns a PortTakenError when `error` says so in the words of Node or of Miniflare, else `error`. */
export function explainPort(error: unknown, port: number): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "EADDRINUSE" || code === "ERR_ADDRESS_IN_USE" ? new PortTakenError(port) : error;
}
