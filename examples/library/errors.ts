/** The errors that the library answers with: each a ConnectError with google.rpc details, as google.aip.dev/193 asks. */
import { type FileRegistry, fromJson, type JsonObject } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";

export interface Violation {
  /** Path in proto names: `book.title`. */
  readonly field: string;
  readonly description: string;
}

export interface Errors {
  notFound(type: string, name: string): ConnectError;
  alreadyExists(type: string, name: string): ConnectError;
  invalid(violations: readonly Violation[]): ConnectError;
  notEmpty(shelf: string, books: number): ConnectError;
}

/** @param registry must hold google.rpc's error details. */
export function createErrors(registry: FileRegistry): Errors {
  function error(message: string, code: Code, details: Readonly<Record<string, JsonObject>>): ConnectError {
    const outgoing = Object.entries(details).map(([name, json]) => {
      const desc = registry.getMessage(`google.rpc.${name}`);
      if (!desc) throw new Error(`google.rpc.${name} is not in the schema`);
      return { desc, value: fromJson(desc, json) };
    });
    return new ConnectError(message, code, undefined, outgoing);
  }
  function info(reason: string, metadata: JsonObject): JsonObject {
    return { reason, domain: "library.example", metadata };
  }
  return {
    notFound: (type, name) =>
      error(`there is no ${type} "${name}"`, Code.NotFound, {
        ErrorInfo: info("NO_SUCH_RESOURCE", { name }),
        ResourceInfo: { resourceType: type, resourceName: name },
      }),
    alreadyExists: (type, name) =>
      error(`"${name}" exists already`, Code.AlreadyExists, {
        ErrorInfo: info("NAME_TAKEN", { name }),
        ResourceInfo: { resourceType: type, resourceName: name },
      }),
    invalid: (violations) =>
      error(violations.map(({ field, description }) => `${field}: ${description}`).join("; "), Code.InvalidArgument, {
        BadRequest: { fieldViolations: violations.map(({ field, description }) => ({ field, description })) },
      }),
    notEmpty: (shelf, books) =>
      error(`"${shelf}" still holds ${books} book(s)`, Code.FailedPrecondition, {
        PreconditionFailure: {
          violations: [{ type: "NOT_EMPTY", subject: shelf, description: "Move or delete its books first." }],
        },
      }),
  };
}
