/** Callers whose messages come and go in envelopes: Connect's streams, all of gRPC-Web. */
import { Code, ConnectError } from "@connectrpc/connect";
import type { Body, End, Reply } from "../call.ts";
import { quote } from "../codec/error.ts";
import { type Chunks, concat } from "../protocol/bytes.ts";
import { ACCEPTED_ENCODINGS, chooseEncoding, compress, isIdentity, isKnownEncoding } from "../protocol/compression.ts";
import { COMPRESSED, formatEnvelopes } from "../protocol/envelope.ts";
import { readEnvelopes } from "../protocol/envelope-stream.ts";
import { mapMessages, readSingle, singleMessage, writeMessages } from "../protocol/messages.ts";
import { appendMetadata, requestMetadata, responseMetadata, takeTrailer } from "../protocol/metadata.ts";
import { methodNotAllowed } from "../protocol/status.ts";
import type { Method } from "../schema/model.ts";
import type { ClientOptions, Exchange, MethodCodecs, Opened } from "./exchange.ts";

/** What the protocols differ in. */
export interface Dialect {
  /** Of the answer, which is that of the request. */
  readonly contentType: string;
  readonly codec: "json" | "proto";
  /** Header field that says how compressed envelopes are. */
  readonly encodingField: string;
  /** Header field that says which codings the caller takes; it belongs to an untouched body. */
  readonly acceptField: string;
  /**
   * Looks at what else the head says.
   *
   * @throws ConnectError
   */
  check?(request: Request): void;
  /** The last envelope. */
  formatEnd(end: End): Uint8Array;
  /** The request's bytes. Default: as they come. */
  open?(stream: ReadableStream<Uint8Array>): Chunks;
  /** The answer's bytes. Default: as they are. */
  encode?(bytes: Uint8Array): Uint8Array;
}

/**
 * @param passthrough the backend speaks the same protocol and nobody reads messages: a binary body may pass untouched.
 */
export function createEnvelopedExchange(
  { request, method }: { readonly request: Request; readonly method: Method },
  codecs: MethodCodecs,
  options: ClientOptions,
  dialect: Dialect,
  passthrough: boolean,
): Exchange {
  const encode = dialect.encode ?? ((bytes: Uint8Array) => bytes);

  function open(): Opened {
    if (request.method !== "POST") throw methodNotAllowed(request.method, ["OPTIONS", "POST"]);
    dialect.check?.(request);
    const encoding = request.headers.get(dialect.encodingField);
    if (!isKnownEncoding(encoding)) {
      const message = `unknown compression ${quote(encoding ?? "")}: supported encodings are ${ACCEPTED_ENCODINGS}`;
      throw new ConnectError(message, Code.Unimplemented);
    }
    const header = requestMetadata(request.headers, options.metadata);
    if (passthrough && dialect.codec === "proto" && !dialect.open) {
      copyFields(header, request.headers, [dialect.encodingField, dialect.acceptField]);
      return { header, body: { kind: "raw", stream: request.body } };
    }
    return { header, body: openBody(encoding) };
  }

  function openBody(encoding: string | null): Body {
    const wire = readEnvelopes(request.body, {
      maxBytes: options.readMaxBytes,
      maxRatio: options.maxCompressionRatio,
      encoding,
      endFlag: 0,
      faultCode: Code.InvalidArgument,
      end: () => ({ trailer: new Headers() }),
      describe: (error) => new ConnectError("the request broke off", Code.Canceled, undefined, undefined, error),
      ...(dialect.open && { open: dialect.open }),
    });
    const messages = dialect.codec === "proto" ? wire : mapMessages(wire, (json) => codecs.input.encode(json));
    if (method.kind === "client-stream") return { kind: "stream", messages };
    if (method.kind === "bidi") return { kind: "stream", messages, duplex: "full" };
    return { kind: "message", read: async () => (await readSingle(messages, "request")).message };
  }

  async function respond({ header, body, trailer }: Reply): Promise<Response> {
    const headers = new Headers(header);
    headers.set("content-type", dialect.contentType);
    if (body.kind === "raw") return new Response(body.stream, { headers });
    const messages = body.kind === "stream" ? body.messages : singleMessage(await body.read(), trailer);
    const shown = dialect.codec === "proto" ? messages : mapMessages(messages, (wire) => codecs.output.decode(wire));
    const format = openFormat(headers);
    const stream = writeMessages(shown, {
      batch: async (messages) => encode(await format(messages)),
      end: (end) => encode(dialect.formatEnd(end)),
    });
    return new Response(stream, { headers });
  }

  /** Each envelope says for itself whether it is compressed. */
  function openFormat(headers: Headers): (messages: readonly Uint8Array[]) => Uint8Array | Promise<Uint8Array> {
    const minBytes = options.compressMinBytes ?? Number.POSITIVE_INFINITY;
    const encoding = minBytes < Number.POSITIVE_INFINITY && chooseEncoding(request.headers.get(dialect.acceptField));
    if (!encoding) return formatEnvelopes;
    headers.set(dialect.encodingField, encoding);
    return async (messages) => {
      if (messages.every(({ length }) => length < minBytes)) return formatEnvelopes(messages);
      const envelopes = messages.map(async (message) =>
        message.length < minBytes
          ? formatEnvelopes([message])
          : formatEnvelopes([await compress(message, encoding)], COMPRESSED),
      );
      return concat(await Promise.all(envelopes));
    };
  }

  return { method, open, respond };
}

/** How a failed call ends: its metadata is trailing metadata, whatever it was. */
export function failedEnd(error: ConnectError): End {
  const trailer = responseMetadata(error.metadata);
  const trailing = takeTrailer(trailer);
  if (trailing) appendMetadata(trailer, trailing);
  return { error, trailer };
}

/** @param fields of an exchange that an untouched body cannot do without. */
function copyFields(to: Headers, from: Headers, fields: readonly string[]): void {
  for (const field of fields) {
    const value = from.get(field);
    if (value !== null && !isIdentity(value)) to.set(field, value);
  }
}
