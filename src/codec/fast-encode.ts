/**
 * The fast encoder: JSON of the usual kind → wire, from tables, in one pass. It writes what the slow encoder would, or
 * gives up: on every error, and on what is rare (Any, keys with escapes, integers like 1e3, oneofs that are bound).
 */
import type { Message } from "../schema/model.ts";
import { specialOf } from "../schema/special.ts";
import type { EncodeRequest } from "./codec.ts";
import { dropLarge, finish, IRREGULAR, io, openInput, skipSpace } from "./fast-io.ts";
import { writeBody, writeBound, writeObject } from "./fast-message.ts";
import { type MessagePlan, planOf } from "./fast-plan.ts";
import { forgetSeen, openFields } from "./fast-seen.ts";

/** Each returns undefined when the slow encoder shall do it. */
export interface FastEncoder {
  encode(json: Uint8Array): Uint8Array | undefined;
  /** No mask is made here. */
  encodeRequest(request: EncodeRequest): Uint8Array | undefined;
}

const NOTHING = new Uint8Array();

/** @returns undefined for messages that are no object of their fields. */
export function compileFastEncoder(message: Message, maxDepth: number): FastEncoder | undefined {
  if (specialOf(message) !== undefined) return undefined;
  let plan: MessagePlan | undefined;
  function open(json: Uint8Array): MessagePlan {
    openInput(json, maxDepth);
    forgetSeen();
    plan ??= planOf(message);
    return plan;
  }
  return {
    encode(json) {
      const plan = open(json);
      try {
        return close(writeObject(plan, skipSpace(0), 1));
      } catch (error) {
        return giveUp(error);
      } finally {
        dropLarge();
      }
    },
    encodeRequest(request) {
      const { body, json } = request;
      if (request.mask || request.bodyWire) return undefined;
      const hasJson = body !== undefined && json !== undefined && json.length > 0;
      const plan = open(hasJson ? json : NOTHING);
      try {
        return close(writeRequest(plan, request, hasJson ? body : undefined));
      } catch (error) {
        return giveUp(error);
      } finally {
        dropLarge();
      }
    },
  };
}

/** @param body undefined when there is no JSON. @returns where the message ends in the text. */
function writeRequest(plan: MessagePlan, { bound }: EncodeRequest, body: EncodeRequest["body"]): number {
  if (body === undefined) {
    writeBound(plan, bound, 1, openFields(plan.words));
    return 0;
  }
  const start = skipSpace(0);
  if (body === "*") return writeObject(plan, start, 1, bound.fields.size > 0 ? bound : undefined);
  const field = plan.byField.get(body);
  if (field === undefined) throw IRREGULAR;
  return writeBody(plan, field, start, bound);
}

/** @param end of the message in the text, behind which only white space may stand. */
function close(end: number): Uint8Array | undefined {
  return skipSpace(end) === io.end ? finish() : undefined;
}

function giveUp(error: unknown): undefined {
  if (error !== IRREGULAR) throw error;
  return undefined;
}
