/**
 * Stands for `@connectrpc/connect` in the Worker (wrangler.toml, "alias"): the two names of it that Isthmus uses, and not
 * the 17 kB of protobuf-es behind `findDetails`, which nothing in the Worker calls. Each isolate would evaluate them before
 * its first answer (`npm run bench -- cold`). The library's own `instanceof` takes these errors for its own.
 */

/** connectrpc.com/docs/protocol, "Error codes". They count from 1. */
const NAMES = [
  "Canceled",
  "Unknown",
  "InvalidArgument",
  "DeadlineExceeded",
  "NotFound",
  "AlreadyExists",
  "PermissionDenied",
  "ResourceExhausted",
  "FailedPrecondition",
  "Aborted",
  "OutOfRange",
  "Unimplemented",
  "Internal",
  "Unavailable",
  "DataLoss",
  "Unauthenticated",
];

/** Number by name, and name by number, as enums of TypeScript have it. */
export const Code: Readonly<Record<string | number, string | number>> = Object.fromEntries(
  NAMES.flatMap((name, index) => [
    [name, index + 1],
    [index + 1, name],
  ]),
);

export class ConnectError extends Error {
  override readonly name = "ConnectError";
  readonly rawMessage: string;
  readonly code: number;
  readonly metadata: Headers;
  details: unknown[] = [];
  override cause: unknown;

  /** The fourth argument, outgoing details as messages, is for servers. */
  constructor(message: string, code = Code.Unknown as number, metadata?: HeadersInit, _?: never[], cause?: unknown) {
    super(message === "" ? `[${snakeCase(code)}]` : `[${snakeCase(code)}] ${message}`);
    this.rawMessage = message;
    this.code = code;
    this.metadata = new Headers(metadata);
    this.cause = cause;
  }

  /** @returns an error that is one already as it is; the runtime's own of a call that was given up as `canceled`. */
  static from(reason: unknown, code = Code.Unknown as number): ConnectError {
    if (reason instanceof ConnectError) return reason;
    if (!(reason instanceof Error)) return new ConnectError(String(reason), code, undefined, undefined, reason);
    const isAbort = reason.name === "AbortError" || reason.name === "TimeoutError";
    if (isAbort) return new ConnectError(reason.message, Code.Canceled as number);
    return new ConnectError(reason.message, code, undefined, undefined, reason);
  }
}

/** How the protocol, and logs, name a code. */
function snakeCase(code: number): string {
  return `${Code[code]}`.replace(/(?<=.)[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
}
