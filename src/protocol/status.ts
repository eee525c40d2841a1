/** RPC codes: their HTTP status, their Connect names, and answers whose HTTP status is not their code's. */
import { Code, ConnectError } from "@connectrpc/connect";

/** google/rpc/code.proto; the Connect protocol has the same table. */
const STATUS: Readonly<Record<Code, number>> = {
  [Code.Canceled]: 499,
  [Code.Unknown]: 500,
  [Code.InvalidArgument]: 400,
  [Code.DeadlineExceeded]: 504,
  [Code.NotFound]: 404,
  [Code.AlreadyExists]: 409,
  [Code.PermissionDenied]: 403,
  [Code.ResourceExhausted]: 429,
  [Code.FailedPrecondition]: 400,
  [Code.Aborted]: 409,
  [Code.OutOfRange]: 400,
  [Code.Unimplemented]: 501,
  [Code.Internal]: 500,
  [Code.Unavailable]: 503,
  [Code.DataLoss]: 500,
  [Code.Unauthenticated]: 401,
};

/** Connect protocol, "Error codes": "InvalidArgument" is `invalid_argument`. */
const NAMES: ReadonlyMap<Code, string> = new Map(
  Object.keys(STATUS).map((code) => [
    Number(code),
    (Code[Number(code)] ?? "").replace(/(?<=.)[A-Z]/g, (letter) => `_${letter}`).toLowerCase(),
  ]),
);

const CODES: ReadonlyMap<string, Code> = new Map([...NAMES].map(([code, name]) => [name, code]));

/** Connect protocol, "HTTP to error code": for an answer that holds no error of its own. */
const CODES_OF_STATUS: ReadonlyMap<number, Code> = new Map([
  [400, Code.Internal],
  [401, Code.Unauthenticated],
  [403, Code.PermissionDenied],
  [404, Code.Unimplemented],
  [429, Code.Unavailable],
  [502, Code.Unavailable],
  [503, Code.Unavailable],
  [504, Code.Unavailable],
]);

/** False for what an error made without types may hold: 0, 17, a text. */
export function isCode(code: unknown): code is Code {
  return typeof code === "number" && NAMES.has(code);
}

export function codeName(code: Code): string {
  return NAMES.get(code) ?? "unknown";
}

export function parseCodeName(name: unknown): Code | undefined {
  return typeof name === "string" ? CODES.get(name) : undefined;
}

export function codeOfStatus(status: number): Code {
  return CODES_OF_STATUS.get(status) ?? Code.Unknown;
}

interface Refusal {
  readonly status: number;
  readonly header: Readonly<Record<string, string>>;
}

const REFUSALS = new WeakMap<ConnectError, Refusal>();

/**
 * An error that the gateway makes itself and that HTTP has a better status for than the code's own: 405, 406, 413, 414, 415, 431.
 *
 * @param header fields that the answer must carry: `allow`, `accept-encoding`.
 */
export function refuse(
  status: number,
  code: Code,
  message: string,
  header: Readonly<Record<string, string>> = {},
): ConnectError {
  const error = new ConnectError(message, code);
  REFUSALS.set(error, { status, header });
  return error;
}

/** 405 with Allow (RFC 9110 §15.5.6). */
export function methodNotAllowed(httpMethod: string, allow: readonly string[]): ConnectError {
  const list = allow.join(", ");
  return refuse(405, Code.Unimplemented, `${httpMethod} is not allowed here; allowed: ${list}`, { allow: list });
}

/** HTTP status of an error, and the header fields that its answer must carry. */
export function httpOfError(error: ConnectError): Refusal {
  return REFUSALS.get(error) ?? { status: STATUS[error.code] ?? 500, header: {} };
}
