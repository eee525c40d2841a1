/** Forms: which content types are one, and which part of the request message a form stands for. */
import { Code, ConnectError } from "@connectrpc/connect";
import { parseParameters } from "../protocol/parameters.ts";
import type { Route } from "../route/route.ts";
import type { Field, Message } from "../schema/model.ts";
import { specialOf } from "../schema/special.ts";
import { isHttpBody } from "./http-body.ts";

/** What the fields of a form are fields of. */
export interface FormTarget {
  readonly message: Message;
  /** The fields that lead there from the request message: the body field, or none. */
  readonly above: readonly Field[];
}

export type Form = { readonly target: FormTarget } & (
  | { readonly kind: "urlencoded" }
  | { readonly kind: "multipart"; readonly boundary: string }
);

/** RFC 2046 §5.1.1: at most 70 characters, of which the last is no space. */
const BOUNDARY = /^[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]$/;

/**
 * @param contentType value of the header.
 * @returns undefined when it is that of no form, or none that the route can take.
 * @throws ConnectError invalid_argument for multipart/form-data without a boundary.
 */
export function formOf(contentType: string, route: Route): Form | undefined {
  const type = parseParameters(contentType);
  const isMultipart = type?.value === "multipart/form-data";
  if (!isMultipart && (type?.value !== "application/x-www-form-urlencoded" || !isUtf8(contentType))) return undefined;
  const target = formTarget(route, isMultipart);
  if (!target || !isMultipart) return target && { kind: "urlencoded", target };
  const boundary = type.parameters.get("boundary") ?? "";
  if (BOUNDARY.test(boundary)) return { kind: "multipart", boundary, target };
  throw new ConnectError("multipart/form-data needs a boundary", Code.InvalidArgument);
}

/** US-ASCII is UTF-8 too. */
export function isUtf8(contentType: string): boolean {
  const charset = parseParameters(contentType)?.parameters.get("charset")?.toLowerCase();
  return charset === undefined || charset === "utf-8" || charset === "utf8" || charset === "us-ascii";
}

/**
 * The message that the body holds. An HttpBody in a field has none that a form could name, so that the form stands for
 * the request message, and the HttpBody is one of its parts.
 *
 * @returns undefined when no form can be the body: it is a scalar, a list, a map, or has a JSON form of its own.
 */
function formTarget({ body, method }: Route, hasParts: boolean): FormTarget | undefined {
  const input = { message: method.input, above: [] };
  if (body === undefined) return input;
  const message = body === "*" ? method.input : body.repeated ? undefined : body.message;
  if (message === undefined || specialOf(message) !== undefined) return undefined;
  if (isHttpBody(message)) return hasParts ? input : undefined;
  return body === "*" ? input : { message, above: [body] };
}
