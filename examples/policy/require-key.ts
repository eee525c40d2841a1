/** A policy of your own: calls need an API key. In a project of yours, import from "isthmus". */
import { Code, ConnectError } from "@connectrpc/connect";
import type { Policy } from "../../src/gateway.ts";

export interface RequireKeyOptions {
  /** Keys that are accepted, and whom each belongs to. */
  readonly keys: ReadonlyMap<string, string>;
  /** Header that holds the key. Default `x-api-key`. */
  readonly header?: string;
}

/**
 * Refuses a call without a known key before anything of its body is read. The backend learns the owner (`x-key-owner`)
 * and not the key. It looks at the head alone, so binary calls still pass through untouched.
 */
export function createRequireKey({ keys, header = "x-api-key" }: RequireKeyOptions): Policy {
  return {
    wrap: (next) => async (call) => {
      const owner = keys.get(call.header.get(header) ?? "");
      if (owner === undefined) throw new ConnectError(`a key in ${header} is needed`, Code.Unauthenticated);
      call.header.delete(header);
      call.header.set("x-key-owner", owner);
      return next(call);
    },
  };
}
