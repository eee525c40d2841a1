/**
 * The fast encoder: JSON of the usual kind → wire, from tables, in one pass. It writes what the slow encoder would, or
 * gives up: on every error, and on what is rare (Any, keys with escapes, integers like 1e3, oneofs that are bound).
 */
import type { Message } from "../schema/model.ts";
import { specialOf } from "../schema/special.ts";
import type { EncodeRequest } from "./codec.ts";
import { finish, IRREGULAR, io, openInput, skipSpace } from "./fast-io.ts";
import { writeBody, writeBound, writeObject } from "./fast-message.ts";
import { planOf } from "./fast-plan.ts";
import { forgetSeen, openFields } from "./fast-seen.ts";

const NOTHING = new Uint8Array();

/** @returns undefined when the slow encoder shall do it. */
export function encodeFast(message: Message, json: Uint8Array, maxDepth: number): Uint8Array | undefined {
  return attempt(message, json, maxDepth, () => writeObject(planOf(message), skipSpace(0), 1));
}

/** The mask is not made here. @returns undefined when the slow encoder shall do it. */
export function encodeRequestFast(message: Message, request: EncodeRequest, maxDepth: number): Uint8Array | undefined {
  const { body, bound, json } = request;
  if (request.mask || request.bodyWire) return undefined;
  const hasJson = body !== undefined && json !== undefined && json.length > 0;
  return attempt(message, hasJson ? json : NOTHING, maxDepth, () => {
    const plan = planOf(message);
    if (!hasJson) {
      writeBound(plan, bound, 1, openFields(plan.words));
      return 0;
    }
    const start = skipSpace(0);
    if (body === "*") return writeObject(plan, start, 1, bound.fields.size > 0 ? bound : undefined);
    const field = plan.byField.get(body);
    if (field === undefined) throw IRREGULAR;
    return writeBody(plan, field, start, bound);
  });
}

/** @param write writes the message, and returns where it ends in the text. */
function attempt(message: Message, json: Uint8Array, maxDepth: number, write: () => number): Uint8Array | undefined {
  if (specialOf(message) !== undefined) return undefined;
  openInput(json, maxDepth);
  forgetSeen();
  try {
    if (skipSpace(write()) !== io.end) return undefined;
  } catch (error) {
    if (error === IRREGULAR) return undefined;
    throw error;
  }
  return finish();
}
