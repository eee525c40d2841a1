/** Streams of a backend that speaks Connect. https://connectrpc.com/docs/protocol#streaming-rpcs */
import { Code, ConnectError } from "@connectrpc/connect";
import type { Call, Messages, Reply } from "../call.ts";
import { CONNECT_VERSION, END_STREAM, parseEndStream, VERSION_FIELD } from "../protocol/connect.ts";
import { readEnvelopes } from "../protocol/envelope-stream.ts";
import { parseMediaType } from "../protocol/media-type.ts";
import { codeOfStatus } from "../protocol/status.ts";
import { brokenAnswer, describeHead, type UpstreamOptions, unexpected, unexpectedType } from "./backend.ts";
import { callEnveloped, checkCoding, type EnvelopedProtocol } from "./enveloped.ts";

const TYPE = "application/connect+proto";
const ENCODING = "connect-content-encoding";

const PROTOCOL: EnvelopedProtocol = {
  check: checkHead,
  read: readMessages,
  acceptField: "connect-accept-encoding",
  rawFields: [ENCODING],
  init: {},
};

/** Header fields of both kinds of call. */
export function putConnectHeader({ header, timeoutMs }: Call): void {
  header.set(VERSION_FIELD, CONNECT_VERSION);
  if (timeoutMs !== undefined) header.set("connect-timeout-ms", String(Math.min(timeoutMs, 9_999_999_999)));
}

export function callConnectStream(call: Call, options: UpstreamOptions): Promise<Reply> {
  putConnectHeader(call);
  call.header.set("content-type", TYPE);
  return callEnveloped(call, options, PROTOCOL);
}

/** Streaming answers have HTTP status 200, always: another is no answer of the protocol. */
function checkHead(response: Response): void {
  const { status } = response;
  if (status !== 200) throw unexpected(`HTTP ${status}`, codeOfStatus(status));
  const type = parseMediaType(response.headers.get("content-type") ?? "")?.essence;
  if (type !== TYPE) {
    throw unexpectedType(type, /^application\/connect\+/);
  }
}

function readMessages(call: Call, response: Response, options: UpstreamOptions): Messages {
  return readEnvelopes(response.body, {
    maxBytes: options.readMaxBytes,
    encoding: checkCoding(response.headers.get(ENCODING)),
    endFlag: END_STREAM,
    faultCode: Code.Internal,
    origin: describeHead(response),
    end(last) {
      if (!last) throw new ConnectError("the stream of the backend broke off before its end", Code.Internal);
      return parseEndStream(last);
    },
    describe: (error) => brokenAnswer(call, options, error),
  });
}
