/** What a REST caller is answered with: chosen by Accept, and one message in that form. */
import { Code } from "@connectrpc/connect";
import { quote } from "../codec/error.ts";
import { negotiate } from "../protocol/media-type.ts";
import { refuse } from "../protocol/status.ts";
import type { Route } from "../route/route.ts";
import type { Field, Message } from "../schema/model.ts";
import type { MethodCodecs } from "./exchange.ts";
import { STREAM_TYPES, type StreamType } from "./framing.ts";
import { isHttpBody, readHttpBody, takeField } from "./http-body.ts";
import { PROBLEM } from "./rest-error.ts";

const MESSAGE_TYPES = ["application/json", "application/proto", "application/x-protobuf"] as const;
type MessageType = (typeof MESSAGE_TYPES)[number];

export type Answer = "http-body" | MessageType | StreamType;

/** @throws ConnectError, shown as 406, when nothing that the route can answer is acceptable. */
export function chooseAnswer(accept: string | null, route: Route): Answer {
  const target: Message | undefined = route.responseBody ? singularMessage(route.responseBody) : route.method.output;
  if (target && isHttpBody(target)) return "http-body";
  const offers = answersStream(route) ? STREAM_TYPES : target ? MESSAGE_TYPES : MESSAGE_TYPES.slice(0, 1);
  // Who asks for problem details alone takes JSON otherwise.
  const type = negotiate<Answer>(accept, offers) ?? (negotiate(accept, [PROBLEM]) && offers[0]);
  if (type !== undefined) return type;
  const message = `nothing that ${quote(accept ?? "")} accepts can be had here; ask for ${offers.join(", ")}`;
  throw refuse(406, Code.InvalidArgument, message);
}

function answersStream({ method }: Route): boolean {
  return method.kind === "server-stream" || method.kind === "bidi";
}

function singularMessage(field: Field): Message | undefined {
  return field.repeated ? undefined : field.message;
}

/** @throws ConnectError internal when the wire is none of the message, or an HttpBody of no possible type. */
export function formatMessage(
  wire: Uint8Array,
  answer: Answer,
  route: Route,
  codecs: MethodCodecs,
): { readonly bytes: Uint8Array; readonly contentType: string } {
  if (answer === "http-body") {
    const { data, contentType } = readHttpBody(shownPart(wire, route));
    return { bytes: data, contentType };
  }
  return {
    bytes: answer === "application/json" ? formatJson(wire, route, codecs) : shownPart(wire, route),
    contentType: answer,
  };
}

export function formatJson(wire: Uint8Array, { responseBody }: Route, { output }: MethodCodecs): Uint8Array {
  return responseBody ? output.decodeField(wire, responseBody) : output.decode(wire);
}

/** In wire form, what response_body names, or all. */
export function shownPart(wire: Uint8Array, { responseBody }: Route): Uint8Array {
  return responseBody ? takeField(wire, responseBody) : wire;
}
