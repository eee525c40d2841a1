/** A REST request as a stream of messages: the elements of an array, the lines of NDJSON, the pieces of an HttpBody. */
import { Code, ConnectError } from "@connectrpc/connect";
import type { Messages } from "../call.ts";
import type { Bound } from "../codec/codec.ts";
import { type Chunks, openChunks } from "../protocol/bytes.ts";
import { decodedStream, isIdentity } from "../protocol/compression.ts";
import { createMessages, type MessageSource } from "../protocol/messages.ts";
import { bindRequest } from "./binding.ts";
import type { ClientOptions, MethodCodecs } from "./exchange.ts";
import type { Form } from "./form.ts";
import { openForm } from "./form-reader.ts";
import { bodyRecord, httpBodyContent } from "./http-body.ts";
import { cutArray, cutLines, type JsonCutter } from "./json-cut.ts";
import { type BodyFormat, contentTooLarge, noBodyHere, type RestRequest } from "./rest-request.ts";

/**
 * Path and query are bound to the first message. The others are of the body alone: what one says of a field that the
 * path has is its own value, and no conflict.
 */
export function readMessages(
  rest: RestRequest,
  format: BodyFormat,
  codecs: MethodCodecs,
  options: ClientOptions,
): Messages {
  const { body, headers } = rest.request;
  const encoding = headers.get("content-encoding");
  const chunks =
    format === "none" || !body ? undefined : openChunks(decodedStream(body, encoding, options.maxCompressionRatio));
  return createMessages(withStatus(openSource(rest, format, chunks, codecs, options)), {
    cancel: () => chunks?.cancel(),
    describe: (cause) =>
      isIdentity(encoding)
        ? new ConnectError("the request broke off", Code.Canceled, undefined, undefined, cause)
        : new ConnectError(`body is not valid ${encoding}`, Code.InvalidArgument, undefined, undefined, cause),
  });
}

function openSource(
  rest: RestRequest,
  format: BodyFormat,
  chunks: Chunks | undefined,
  codecs: MethodCodecs,
  options: ClientOptions,
): MessageSource {
  if (format === "http-body") return httpBodySource(rest, chunks, codecs, options);
  if (typeof format === "object") return formSource(rest, format, chunks, codecs, options);
  const cutter = format === "ndjson" ? cutLines(options.readMaxBytes) : cutArray(options.readMaxBytes);
  return jsonSource(rest, chunks, cutter, codecs, options);
}

/** A message over the limit is HTTP's 413 here. */
async function* withStatus(source: MessageSource): MessageSource {
  try {
    return yield* source;
  } catch (error) {
    throw error instanceof ConnectError && error.code === Code.ResourceExhausted ? contentTooLarge(error) : error;
  }
}

const END = () => ({ trailer: new Headers() });

async function* jsonSource(
  { match, query }: RestRequest,
  chunks: Chunks | undefined,
  cutter: JsonCutter,
  codecs: MethodCodecs,
  options: ClientOptions,
): MessageSource {
  const { body } = match.route;
  let bound = bindRequest(match, query, options);
  let count = 0;

  /** Whole messages, and what came in the way of more. */
  function encodeAll(texts: Generator<Uint8Array, void>): { messages: Uint8Array[]; fault?: unknown } {
    const messages: Uint8Array[] = [];
    try {
      for (const json of texts) {
        if (body === undefined) throw noBodyHere();
        messages.push(codecs.input.encodeRequest({ json, body, bound }).wire);
        bound = NOTHING_BOUND();
        count++;
      }
    } catch (fault) {
      return { messages, fault: fault instanceof ConnectError ? atMessage(count + 1, fault) : fault };
    }
    return { messages };
  }

  for (let chunk = await chunks?.read(); chunk; chunk = await chunks?.read()) {
    const { messages, fault } = encodeAll(cutter.push(chunk));
    if (messages.length > 0) yield messages;
    if (fault !== undefined) throw fault;
  }
  const { messages, fault } = encodeAll(cutter.end());
  if (messages.length > 0) yield messages;
  if (fault !== undefined) throw fault;
  // Without a body, path and query are a message still: nothing that was sent is lost.
  if (count === 0 && (bound.fields.size > 0 || body === undefined) && chunks === undefined) {
    yield [codecs.input.encodeRequest({ bound }).wire];
  }
  return END();
}

const NOTHING_BOUND = (): Bound => ({ fields: new Map() });

/** Names the message, counted from 1, before what is wrong in it. */
function atMessage(number: number, error: ConnectError): ConnectError {
  const told = new ConnectError(
    `message ${number}: ${error.rawMessage}`,
    error.code,
    error.metadata,
    undefined,
    error.cause,
  );
  told.details = error.details;
  return told;
}

/** Bytes of one message of an upload, unless the limit is lower. */
const PIECE_BYTES = 65_536;

/** The content type stands in the first message. What has come is cut into messages; a body without bytes is one as well. */
async function* httpBodySource(
  { request, match, query }: RestRequest,
  chunks: Chunks | undefined,
  codecs: MethodCodecs,
  options: ClientOptions,
): MessageSource {
  const { body } = match.route;
  let bound = bindRequest(match, query, options);
  let contentType = request.headers.get("content-type");
  let isFirst = true;
  const encode = (data: Uint8Array): Uint8Array => {
    const content = httpBodyContent(contentType, data);
    const bodyWire = body === "*" || body === undefined ? content : bodyRecord(body, content);
    const { wire } = codecs.input.encodeRequest({ ...(body && { body }), bodyWire, bound });
    bound = NOTHING_BOUND();
    contentType = null;
    isFirst = false;
    return wire;
  };
  const pieceBytes = Math.min(PIECE_BYTES, options.readMaxBytes);
  for (let chunk = await chunks?.read(); chunk; chunk = await chunks?.read()) {
    // In Node a chunk may be of any size, and a backend takes no message of any size.
    for (let at = 0; at < chunk.length; at += pieceBytes) yield [encode(chunk.subarray(at, at + pieceBytes))];
  }
  if (isFirst) yield [encode(new Uint8Array(0))];
  return END();
}

/** A form is one message, unless it has a file that is a stream of them: then what stands before goes with its first bytes. */
async function* formSource(
  { match, query }: RestRequest,
  form: Form,
  chunks: Chunks | undefined,
  codecs: MethodCodecs,
  options: ClientOptions,
): MessageSource {
  if (match.route.body === undefined) throw noBodyHere();
  let bound = bindRequest(match, query, options);
  const reader = openForm(form, codecs, options, { streamsFiles: true });
  const encode = (bodyWire: Uint8Array): Uint8Array => {
    const { wire } = codecs.input.encodeRequest({ bodyWire, bound });
    bound = NOTHING_BOUND();
    return wire;
  };
  for (let chunk = await chunks?.read(); chunk; chunk = await chunks?.read()) {
    const messages = reader.push(chunk).map(encode);
    if (messages.length > 0) yield messages;
  }
  const last = reader.end();
  if (last) yield [encode(last)];
  return END();
}
