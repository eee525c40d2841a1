/** The update mask of a PATCH: the keys that its body has (DESIGN §4, "PATCH mask"). */
import type { Bound } from "../codec/codec.ts";
import * as WireType from "../codec/wire-type.ts";
import { WireWriter } from "../codec/wire-writer.ts";
import type { Route } from "../route/route.ts";
import type { Field } from "../schema/model.ts";

const maskFields = new WeakMap<Route, { readonly field: Field | undefined }>();

/**
 * The field that a PATCH may leave to the gateway: the request's one FieldMask, where the body is a field beside it.
 * Undefined for other routes.
 */
export function derivedMaskField(route: Route): Field | undefined {
  let known = maskFields.get(route);
  if (known === undefined) {
    known = { field: findMaskField(route) };
    maskFields.set(route, known);
  }
  return known.field;
}

function findMaskField(route: Route): Field | undefined {
  const { body, httpMethod, method } = route;
  if (httpMethod !== "PATCH" || body === undefined || body === "*") return undefined;
  const masks = method.input.fields.filter((field) => field.message?.name === "google.protobuf.FieldMask");
  const [mask] = masks;
  return masks.length === 1 && mask && !mask.repeated && mask !== body ? mask : undefined;
}

/** The record of a FieldMask field: paths = 1. */
export function maskRecord(field: Field, paths: readonly string[]): Uint8Array {
  const wire = new WireWriter();
  wire.tag(field.number, WireType.LEN);
  const start = wire.begin();
  for (const path of paths) {
    wire.tag(1, WireType.LEN);
    wire.string(path);
  }
  wire.end(start);
  return wire.finish();
}

/** Leaf paths of the body field, without those that are bound. */
export function unboundLeaves(leaves: Iterable<string>, { body }: Route, bound: Bound): readonly string[] {
  const value = body && body !== "*" ? bound.fields.get(body) : undefined;
  const taken = new Set(value?.kind === "message" ? boundLeaves(value.bound, "") : []);
  return [...leaves].filter((leaf) => !taken.has(leaf));
}

function* boundLeaves(bound: Bound, prefix: string): Generator<string, void> {
  for (const [{ name }, value] of bound.fields) {
    if (value.kind === "message") yield* boundLeaves(value.bound, `${prefix}${name}.`);
    else yield prefix + name;
  }
}
