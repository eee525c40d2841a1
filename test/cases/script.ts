/** The backend's methods: each does what the running case says. Written against connect-node's interfaces. */
import {
  create,
  type DescMessage,
  type DescMethod,
  type DescMethodBiDiStreaming,
  type DescMethodClientStreaming,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  fromBinary,
  fromJson,
  type Message,
} from "@bufbuild/protobuf";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import {
  ConnectError,
  type ConnectRouter,
  type ContextKey,
  createContextKey,
  type HandlerContext,
} from "@connectrpc/connect";
import type { Json, UpstreamError } from "./case.ts";
import type { Conversation } from "./conversation.ts";
import type { Descriptors } from "./descriptors.ts";
import type { Recorded } from "./recorded.ts";

export interface Exchange {
  readonly conversation: Conversation;
  readonly recorded: Recorded;
}

export const exchangeKey: ContextKey<Exchange | undefined> = createContextKey<Exchange | undefined>(undefined);

/** Registers every method of the schema. */
export function addScriptedServices(router: ConnectRouter, descriptors: Descriptors): void {
  for (const file of descriptors.files.files) {
    for (const service of file.services) {
      for (const method of service.methods) addMethod(router, method, descriptors);
    }
  }
}

/** A descriptor read at run time says its kind by value only, so the casts tell the compiler. */
function addMethod(router: ConnectRouter, method: DescMethod, descriptors: Descriptors): void {
  switch (method.methodKind) {
    case "unary":
      router.rpc(method as DescMethodUnary, async (_, context) => answer(method, context, descriptors));
      break;
    case "client_streaming":
      router.rpc(method as DescMethodClientStreaming, async (requests, context) => {
        await take(requests, context);
        return answer(method, context, descriptors);
      });
      break;
    case "server_streaming":
      router.rpc(method as DescMethodServerStreaming, (_, context) => stream(method, context, descriptors));
      break;
    case "bidi_streaming":
      router.rpc(method as DescMethodBiDiStreaming, async function* (requests, context) {
        await take(requests, context);
        yield* stream(method, context, descriptors);
      });
  }
}

/** Reads the requests: all, or as many as the case says. */
async function take(requests: AsyncIterable<Message>, context: HandlerContext): Promise<void> {
  const limit = exchangeOf(context).conversation.test.upstream?.after_messages ?? Number.POSITIVE_INFINITY;
  let count = 0;
  const iterator = requests[Symbol.asyncIterator]();
  while (count < limit && !(await iterator.next()).done) count++;
}

function answer(method: DescMethod, context: HandlerContext, descriptors: Descriptors): Message {
  setMetadata(context);
  const upstream = exchangeOf(context).conversation.test.upstream;
  if (upstream?.error) throw errorOf(upstream.error, descriptors);
  return messageOf(method.output, upstream ?? {}, context, descriptors);
}

async function* stream(method: DescMethod, context: HandlerContext, descriptors: Descriptors): AsyncGenerator<Message> {
  setMetadata(context);
  const { conversation, recorded } = exchangeOf(context);
  const upstream = conversation.test.upstream;
  if (upstream?.error) throw errorOf(upstream.error, descriptors);
  for (const item of upstream?.stream ?? []) {
    if (item.error) throw errorOf(item.error, descriptors);
    if (item.pause) await conversation.pause();
    else if (item.client_cancels) {
      conversation.cancelClient();
      await recorded.cancelled;
    } else if (item.hangs) await recorded.cancelled;
    else yield messageOf(method.output, item, context, descriptors);
  }
}

function exchangeOf(context: HandlerContext): Exchange {
  const exchange = context.values.get(exchangeKey);
  if (!exchange) throw new Error("a request without a running case");
  return exchange;
}

function setMetadata(context: HandlerContext): void {
  const metadata = exchangeOf(context).conversation.test.upstream?.metadata;
  copyInto(context.responseHeader, metadata?.headers ?? {});
  copyInto(context.responseTrailer, metadata?.trailers ?? {});
}

/** Replaces what the protocol had put there: two content types would be none. */
function copyInto(target: Headers, entries: Readonly<Record<string, readonly string[]>>): void {
  for (const [name, values] of Object.entries(entries)) {
    target.delete(name);
    for (const value of values) target.append(name, value);
  }
}

function messageOf(
  desc: DescMessage,
  source: { readonly message_json?: Json; readonly message_base64?: string },
  context: HandlerContext,
  descriptors: Descriptors,
): Message {
  if (source.message_base64 !== undefined) {
    const bytes = Buffer.from(source.message_base64, "base64");
    return isJson(context) ? fromBinary(desc, bytes) : verbatim(desc, bytes);
  }
  if (source.message_json === undefined) return create(desc);
  return descriptors.fromCanonicalJson(desc, source.message_json);
}

function isJson(context: HandlerContext): boolean {
  const type = context.requestHeader.get("content-type") ?? "";
  return type.includes("json") || context.url.includes("encoding=json");
}

/** A message whose wire form is exactly these bytes, well formed or not: one unknown field with all that follows its tag. */
function verbatim(desc: DescMessage, bytes: Uint8Array): Message {
  const message = create(desc);
  if (bytes.length === 0) return message;
  const reader = new BinaryReader(bytes);
  const [no, wireType] = reader.tag();
  message.$unknown = [{ no, wireType, data: bytes.subarray(reader.pos) }];
  return message;
}

function errorOf(error: UpstreamError, descriptors: Descriptors): ConnectError {
  const thrown = new ConnectError(error.message, error.code);
  for (const detail of error.details ?? []) {
    const any = fromJson(AnySchema, detail, { registry: descriptors.registry });
    thrown.details.push({ type: typeName(any.typeUrl), value: any.value });
  }
  for (const detail of error.details_binary ?? []) {
    thrown.details.push({ type: typeName(detail.type_url), value: Buffer.from(detail.value_base64, "base64") });
  }
  return thrown;
}

function typeName(typeUrl: string): string {
  return typeUrl.slice(typeUrl.lastIndexOf("/") + 1);
}
