/** What is bound beside the JSON, written from wire that was made before. */
import type { Bound } from "./codec.ts";
import { endLength, IRREGULAR, io, reserve, writeRaw, writeVarint } from "./fast-io.ts";
import { type FieldPlan, type MessagePlan, planOf } from "./fast-plan.ts";
import { closeFields, isSeen, openFields } from "./fast-seen.ts";
import * as Kind from "./kind.ts";
import * as Shape from "./shape.ts";

/** Writes the bound values of a message but those that its JSON had. Oneofs are not for here. */
export function writeBound(plan: MessagePlan, bound: Bound, depth: number, seen: number): void {
  for (const [field, value] of bound.fields) {
    const own = plan.byField.get(field);
    if (own === undefined || field.oneof !== undefined) throw IRREGULAR;
    if (isSeen(seen, own.bit)) continue;
    if (value.kind === "record") writeRaw(value.wire);
    else writeBoundMessage(own, value.bound, depth + 1);
  }
}

/** @param depth its level. */
function writeBoundMessage(field: FieldPlan, bound: Bound, depth: number): void {
  if (field.kind !== Kind.MESSAGE || field.shape !== Shape.SINGULAR || depth > io.maxDepth) throw IRREGULAR;
  reserve(0);
  writeVarint(field.tag);
  const kept = field.lengthBytes;
  io.at += kept;
  const content = io.at;
  const plan = planOf(field.field.message as NonNullable<typeof field.field.message>);
  const seen = openFields(plan.words);
  writeBound(plan, bound, depth, seen);
  closeFields(seen);
  field.lengthBytes = endLength(content, kept);
}
