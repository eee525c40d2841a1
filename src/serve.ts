/** The path of one request, readable from top to bottom. */
import { Code, ConnectError } from "@connectrpc/connect";
import type { Call, FetchFn, HttpFilter, Reply } from "./call.ts";
import { limitBody } from "./client/body-limit.ts";
import { connectAllow } from "./client/connect.ts";
import type { Exchange, FormatFailure } from "./client/exchange.ts";
import { createRestExchange } from "./client/rest.ts";
import { respondHead } from "./client/rest-answer-stream.ts";
import { formatRestFailure } from "./client/rest-error.ts";
import { contentTooLarge } from "./client/rest-request.ts";
import { createRpcExchange, formatRpcFailure } from "./client/rpc.ts";
import { restSocketFormat, rpcSocketFormat } from "./client/socket-format.ts";
import { checkHost, checkLength, splitTarget, type Target } from "./client/target.ts";
import { createSocketExchange, isWebSocketUpgrade, type SocketFormat } from "./client/websocket.ts";
import { createCors } from "./filter/cors.ts";
import type { MethodPlan, Plan } from "./plan.ts";
import { watchBody } from "./protocol/bytes.ts";
import { VERSION_FIELD } from "./protocol/connect.ts";
import { callerSignal, type Deadline, parseTimeout, startDeadline } from "./protocol/deadline.ts";
import { isCode, methodNotAllowed, refuse } from "./protocol/status.ts";
import type { Match, Router } from "./route/route.ts";

export interface Gateway {
  /**
   * Answers one request. Never rejects: every failure is an answer in the caller's dialect. It takes what a Worker's
   * handler is given, so that a gateway can be the default export of one; only the request is looked at.
   */
  fetch(request: Request, env?: unknown, ctx?: unknown): Promise<Response>;
}

export function openGateway(plan: Plan): Gateway {
  const serve = answering((request) => serveRequest(request, plan), plan);
  const { cors, filters } = plan.config;
  const filtered = wrap(serve, filters, plan);
  // Outside of all that makes answers of failures: scripts can read only what has its headers.
  return { fetch: wrap(filtered, cors ? [createCors(cors, (request) => methodsAt(request, plan))] : [], plan) };
}

function wrap(serve: FetchFn, filters: readonly HttpFilter[], plan: Plan): FetchFn {
  if (filters.length === 0) return serve;
  return answering(
    filters.reduceRight((next, filter) => filter(next), serve),
    plan,
  );
}

/** Makes an answer of every failure: inside of the filters, which see it, and around them, since they may fail too. */
function answering(next: FetchFn, plan: Plan): FetchFn {
  return async (request) => {
    try {
      return requireResponse(await next(request));
    } catch (error) {
      const fail = failureFormat(request, plan.rpc.has(splitTarget(request.url).path), plan);
      return withoutHeadContent(request, formatFailure(error, fail));
    }
  };
}

/** A filter without types may return anything. By its shape, since a host in Node may have a Response of its own. */
function requireResponse(response: Response): Response {
  if (response?.headers) return response;
  throw new TypeError("a filter returned no Response");
}

/** A policy's error may hold what nobody can show: then that is the fault. */
function formatFailure(error: unknown, fail: FormatFailure): Response {
  try {
    return fail(asConnectError(error));
  } catch (fault) {
    return fail(asConnectError(fault));
  }
}

async function serveRequest(request: Request, plan: Plan): Promise<Response> {
  const { url } = request;
  checkLength(url, plan.config.maxUrlBytes);
  checkHost(request.headers.get("host"));
  const target = splitTarget(url);
  const rpc = plan.rpc.get(target.path);
  const { maxBodyBytes } = plan.config;
  if (maxBodyBytes === undefined) return rpc ? serveRpc(request, target, rpc, plan) : serveRest(request, target, plan);
  if (!rpc) return serveRest(limitBody(request, maxBodyBytes, contentTooLarge), target, plan);
  const limited = limitBody(request, maxBodyBytes);
  // workerd ends the body of a fetch well when the stream that it comes from breaks: nothing that may break can pass.
  return serveRpc(limited, target, limited === request ? rpc : { ...rpc, passthrough: "none" }, plan);
}

async function serveRpc(request: Request, { query }: Target, rpc: MethodPlan, plan: Plan): Promise<Response> {
  const { method, codecs, passthrough } = rpc;
  if (request.method === "OPTIONS") return answerOptions(connectAllow(method));
  if (method.kind !== "unary" && isWebSocketUpgrade(request)) {
    return serveSocket(request, rpcSocketFormat(method, codecs), rpc, plan);
  }
  const exchange = createRpcExchange({ request, method, query }, codecs, plan.client, passthrough);
  return serveCall(request, exchange, rpc, plan);
}

async function serveRest(request: Request, target: Target, plan: Plan): Promise<Response> {
  const socket = isWebSocketUpgrade(request) ? matchStream(target.path, plan) : undefined;
  if (socket) {
    const method = plan.planOf(socket.route.method);
    const rest = { request, match: socket, query: target.query };
    return serveSocket(request, restSocketFormat(rest, method.codecs, plan.client), method, plan);
  }
  const match = plan.router.match(request.method, target.path);
  if (match === undefined) return notFound(request, target, plan);
  if ("allow" in match) {
    if (request.method === "OPTIONS") return answerOptions(match.allow);
    throw methodNotAllowed(request.method, match.allow);
  }
  if (isHeadOfStream(request, match)) return respondHead(request, match.route);
  const method = plan.planOf(match.route.method);
  const exchange = createRestExchange(
    { request, match, query: target.query },
    method.codecs,
    plan.client,
    plan.restError,
  );
  return withoutHeadContent(request, await serveCall(request, exchange, method, plan));
}

async function serveCall(request: Request, exchange: Exchange, plan: MethodPlan, { config }: Plan): Promise<Response> {
  const deadline = startDeadline(callerSignal(request), shorter(parseTimeout(request.headers), config.timeoutMs));
  let reply: Reply | undefined;
  try {
    reply = await deadline.race(plan.call(openCall(exchange, deadline)));
    const response = await deadline.race(exchange.respond(underDeadline(reply, deadline)));
    if (isWhole(reply)) deadline.stop();
    return response;
  } catch (error) {
    deadline.stop();
    if (reply?.body.kind === "stream") reply.body.messages.cancel(asConnectError(error));
    throw error;
  }
}

function openCall(exchange: Pick<Exchange, "method" | "open">, deadline: Deadline): Call {
  return {
    method: exchange.method,
    signal: deadline.signal,
    ...exchange.open(),
    get timeoutMs() {
      return deadline.remainingMs();
    },
  };
}

/** A WebSocket opens by GET, whatever the method of the route; a unary one has no use for it. */
function matchStream(path: string, { router }: Plan): Match | undefined {
  const match = router.match("GET", path);
  if (match === undefined) return undefined;
  const matches = "allow" in match ? match.allow.map((httpMethod) => router.match(httpMethod, path)) : [match];
  return matches.find((match): match is Match => isStreamMatch(match));
}

function isStreamMatch(match: ReturnType<Router["match"]>): boolean {
  return match !== undefined && "route" in match && match.route.method.kind !== "unary";
}

/** The call begins with the socket, and lives as long: what happens to it is told by frames and by the close. */
function serveSocket(request: Request, format: SocketFormat, plan: MethodPlan, { client, config }: Plan): Response {
  const exchange = createSocketExchange(request, format, client);
  const deadline = startDeadline(exchange.signal, shorter(parseTimeout(request.headers), config.timeoutMs));
  const call = openCall(exchange, deadline);
  const reply = deadline.race(plan.call(call)).then((reply) => underDeadline(reply, deadline));
  return exchange.accept(reply, deadline.stop);
}

/**
 * A backend that heeds the deadline ends its answer in words of the protocol; a cut, which is all that can be done to an
 * untouched body, says less. So it comes only when the backend should have been heard.
 */
const PASSTHROUGH_GRACE_MS = 500;

/** What is still to come of an answer ends with the deadline, and the deadline with it. A body that passes through too. */
function underDeadline(reply: Reply, deadline: Deadline): Reply {
  const { body } = reply;
  if (body.kind === "stream") {
    body.messages.end.then(deadline.stop);
    const { signal } = deadline;
    signal?.addEventListener("abort", () => body.messages.cancel(signal.reason), { once: true });
    return reply;
  }
  if (body.kind === "message" || body.stream === null) return reply;
  if (deadline.remainingMs() === undefined) return reply;
  deadline.extend(PASSTHROUGH_GRACE_MS);
  return { ...reply, body: { ...body, stream: watchBody(body.stream, deadline.stop) } };
}

/** Nothing of it is still to come. */
function isWhole({ body }: Reply): boolean {
  return body.kind === "message" || (body.kind === "raw" && body.stream === null);
}

function shorter(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}

/** HEAD of a route that streams tells its headers, and starts no call that may never end. */
function isHeadOfStream(request: Request, { route }: Match): boolean {
  return request.method === "HEAD" && route.httpMethod !== "HEAD" && route.method.kind !== "unary";
}

/** RFC 9110 §9.3.2: the answer of the GET without its content. */
function withoutHeadContent(request: Request, response: Response): Response {
  return request.method === "HEAD" ? new Response(null, response) : response;
}

/** What a preflight may be told of its path. One that is refused has no methods: its request will be told why. */
function methodsAt(request: Request, plan: Plan): readonly string[] {
  const { path } = splitTarget(request.url);
  const rpc = plan.rpc.get(path);
  if (rpc) return connectAllow(rpc.method);
  try {
    const match = plan.router.match("", path);
    if (match === undefined) return [];
    // Only a rule for any method takes this one.
    return "allow" in match ? match.allow : ["*"];
  } catch {
    return [];
  }
}

/** RFC 9110 §9.3.7. */
function answerOptions(allow: readonly string[]): Response {
  return new Response(null, { status: 204, headers: { allow: allow.join(", ") } });
}

const RPC_PATH = /^\/(?:[A-Za-z_]\w*\.)+[A-Za-z_]\w*\/[A-Za-z_]\w*$/;

/** No method and no route has this path; one that only an RPC caller would ask for is refused in its dialect. */
function notFound(request: Request, { path }: Target, plan: Plan): Response {
  const isRpc = RPC_PATH.test(path) || request.headers.has(VERSION_FIELD);
  const code = isRpc ? Code.Unimplemented : Code.NotFound;
  const error = refuse(404, code, `nothing is served at ${JSON.stringify(path.slice(0, 200))}`);
  return withoutHeadContent(request, failureFormat(request, isRpc, plan)(error));
}

function failureFormat(request: Request, isRpc: boolean, plan: Plan): FormatFailure {
  if (isRpc) return formatRpcFailure(request);
  return (error) => formatRestFailure(error, request.headers.get("accept"), plan.restError);
}

/** Whatever is no ConnectError, with a code that there is, is a fault inside: the log has it, the caller must not. */
function asConnectError(error: unknown): ConnectError {
  if (error instanceof ConnectError && isCode(error.code)) return error;
  console.error(error);
  return new ConnectError("internal error", Code.Internal);
}
