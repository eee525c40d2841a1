/**
 * The fast encoder: JSON of the usual kind → wire, from tables, in one pass. It writes what the slow encoder would, or
 * gives up: on every error, and on what is rare (keys with escapes, oneofs that are bound).
 */
import type { Message } from "../schema/model.ts";
import { specialOf } from "../schema/special.ts";
import type { CodecContext, EncodeRequest, Skipped } from "./codec.ts";
import { writeBound } from "./fast-bound.ts";
import { finish, IRREGULAR, io, openInput, skipSpace } from "./fast-io.ts";
import { writeBody, writeObject } from "./fast-message.ts";
import { type MessagePlan, planOf } from "./fast-plan.ts";
import { forgetSeen, openFields } from "./fast-seen.ts";
import { forgetTypes } from "./fast-type.ts";

/** Each returns undefined when the slow encoder shall do it, for which the input stays open. */
export interface FastEncoder {
  encode(json: Uint8Array, skipped?: Skipped): Uint8Array | undefined;
  /** Without a mask, and without a body in wire form. */
  encodeRequest(request: EncodeRequest, skipped?: Skipped): Uint8Array | undefined;
}

const NOTHING = new Uint8Array();

/** @returns undefined for messages that are no object of their fields. */
export function compileFastEncoder(message: Message, context: CodecContext): FastEncoder | undefined {
  if (specialOf(message) !== undefined) return undefined;
  let plan: MessagePlan | undefined;
  function open(json: Uint8Array): MessagePlan {
    openInput(json, context);
    forgetSeen();
    forgetTypes();
    plan ??= planOf(message);
    return plan;
  }
  return {
    encode(json, skipped) {
      const plan = open(json);
      try {
        return close(writeObject(plan, skipSpace(0), 1), skipped);
      } catch (error) {
        return giveUp(error);
      }
    },
    encodeRequest(request, skipped) {
      const { body, json } = request;
      const hasJson = body !== undefined && json !== undefined && json.length > 0;
      const plan = open(hasJson ? json : NOTHING);
      try {
        return close(writeRequest(plan, request, hasJson ? body : undefined), skipped);
      } catch (error) {
        return giveUp(error);
      }
    },
  };
}

/** To give up costs microseconds: once for so many bytes. */
const BYTES_PER_TRY = 256;

/**
 * One object of the text that was opened last, and given up as a whole: one thing out of the ordinary should not make
 * a large message slow. No byte is read much oftener than twice for it.
 */
export class FastParts {
  #failures = 0;

  /**
   * @param start of the object in the text. @param depth its level.
   * @returns where the object ends, with its wire in `io`; undefined where the slow encoder shall do it.
   */
  encode(message: Message, start: number, depth: number): number | undefined {
    if (io.opened[depth] === start || this.#failures * BYTES_PER_TRY > start) return undefined;
    io.at = 0;
    io.skipped = 0;
    forgetSeen();
    try {
      return writeObject(planOf(message), start, depth);
    } catch (error) {
      this.#failures++;
      return giveUp(error);
    }
  }
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
function close(end: number, skipped: Skipped | undefined): Uint8Array | undefined {
  if (skipSpace(end) !== io.end) return undefined;
  if (skipped) skipped.unknownFields += io.skipped;
  return finish();
}

function giveUp(error: unknown): undefined {
  if (error !== IRREGULAR) throw error;
  io.isUnknown = false;
  return undefined;
}
