/** What the frames of a WebSocket are: messages of an RPC path as they are, those of a route as its rule has them. */
import type { Bound } from "../codec/codec.ts";
import type { Method } from "../schema/model.ts";
import { bindRequest } from "./binding.ts";
import type { ClientOptions, MethodCodecs } from "./exchange.ts";
import { bodyRecord } from "./http-body.ts";
import { formatJson } from "./rest-answer.ts";
import { noBodyHere, type RestRequest } from "./rest-request.ts";
import type { SocketFormat } from "./websocket.ts";

export function rpcSocketFormat(method: Method, codecs: MethodCodecs): SocketFormat {
  return {
    method,
    encode: (frame) => ("wire" in frame ? frame.wire : codecs.input.encode(frame.json)),
    decode: (wire) => codecs.output.decode(wire),
    whole: () => undefined,
  };
}

/**
 * Path and query are bound to the first message.
 *
 * @throws ConnectError when they do not fit.
 */
export function restSocketFormat(
  { match, query }: RestRequest,
  codecs: MethodCodecs,
  options: ClientOptions,
): SocketFormat {
  const { route } = match;
  const { body } = route;
  let bound: Bound = bindRequest(match, query, options);
  return {
    method: route.method,
    encode(frame) {
      if (body === undefined) throw noBodyHere();
      const content =
        "json" in frame ? { json: frame.json } : { bodyWire: body === "*" ? frame.wire : bodyRecord(body, frame.wire) };
      const { wire } = codecs.input.encodeRequest({ body, ...content, bound });
      bound = { fields: new Map() };
      return wire;
    },
    decode: (wire) => formatJson(wire, route, codecs),
    whole: () => (body === undefined ? codecs.input.encodeRequest({ bound }).wire : undefined),
  };
}
