/** Everything that is decided before the first request: options checked, rules compiled, each method given its backend. */
import type { CallFn, Policy } from "./call.ts";
import type { ClientOptions, MethodCodecs } from "./client/exchange.ts";
import type { RestErrorOptions } from "./client/rest-error.ts";
import type { Passthrough } from "./client/rpc.ts";
import type { Codec, CodecContext } from "./codec/codec.ts";
import { compileCodec } from "./codec/compile.ts";
import { backendOf, type Config, formatFault, listsService, misconfigured, readConfig } from "./config.ts";
import type { Backend, GatewayOptions } from "./options.ts";
import { createStreamLimits } from "./policy/stream-limits.ts";
import { compileOrigins } from "./protocol/origin.ts";
import type { Router } from "./route/route.ts";
import { createRouter } from "./route/router.ts";
import { compileRules } from "./route/rule.ts";
import type { Message, Method, Schema, Service } from "./schema/model.ts";
import { applyServiceConfig } from "./schema/service-config.ts";
import { createConnectUpstream } from "./upstream/connect.ts";
import { createGrpcWebUpstream } from "./upstream/grpc-web.ts";

export interface Plan {
  readonly config: Config;
  readonly router: Router;
  /** RPC path → method: what RPC callers reach. */
  readonly rpc: ReadonlyMap<string, MethodPlan>;
  readonly client: ClientOptions;
  readonly restError: RestErrorOptions;
  /** The plan of a method that a route names. */
  planOf(method: Method): MethodPlan;
}

export interface MethodPlan {
  readonly method: Method;
  readonly codecs: MethodCodecs;
  readonly call: CallFn;
  readonly passthrough: Passthrough;
}

/**
 * @param read called once, when the options are known to be right.
 * @throws ConnectError invalid_argument; see createGateway.
 */
export function compilePlan(options: GatewayOptions, read: () => Schema): Plan {
  const config = readConfig(options);
  const { schema, faults: configFaults } = configure(read(), config);
  warnOfNames(schema, config);
  const services = reachableServices(schema, config);
  const names = new Set(services.map((service) => service.name));
  const { routes, faults: ruleFaults } = compileRules(schema, names);
  const faults = [...configFaults, ...ruleFaults];
  const errors = faults.filter((fault) => fault.severity === "error");
  if (errors.length > 0 && config.onFault === "throw") throw misconfigured(errors.map(formatFault).join("\n"));
  for (const fault of faults) config.warn(formatFault(fault));

  const codecs = createCodecs(schema, config);
  const methods = new Map<Method, MethodPlan>();
  const policies = [...streamPolicies(config), ...config.policies];
  for (const service of services) {
    const backend = requireBackend(config, service);
    const call = onion(policies, createUpstream(backend, config));
    for (const method of service.methods) {
      methods.set(method, planMethod(method, codecs, call, passthroughOf(method, backend, config)));
    }
  }
  return {
    config,
    router: createRouter(routes),
    rpc: new Map(
      [...methods.values()]
        .filter(({ method }) => config.rpc === "all" || (config.rpc === "annotated" && method.rules.length > 0))
        .map((plan) => [plan.method.path, plan]),
    ),
    client: readClientOptions(config),
    restError: {
      challenge: config.challenge,
      get any() {
        return codecs(builtin(schema, "google.protobuf.Any"));
      },
      get retryInfo() {
        return codecs(builtin(schema, "google.rpc.RetryInfo"));
      },
    },
    planOf(method) {
      const plan = methods.get(method);
      if (!plan) throw new Error(`no plan for ${method.path}`);
      return plan;
    },
  };
}

function configure(schema: Schema, { serviceConfig, serviceConfigMode: mode }: Config) {
  if (serviceConfig === undefined) return { schema, faults: [] };
  return applyServiceConfig(schema, serviceConfig, { mode });
}

function reachableServices(schema: Schema, config: Config): readonly Service[] {
  const wanted = config.services;
  const isWanted = ({ name }: Service) => (wanted ? listsService(wanted, name) : schema.named.has(name));
  const unknown = wanted?.filter((entry) => !schema.services.some(({ name }) => listsService([entry], name)));
  if (unknown?.length) throw misconfigured(`services: the schema has no ${unknown.join(", ")}`);
  const services = schema.services.filter(isWanted);
  if (services.length === 0) throw misconfigured("the schema holds no service");
  const leftOut = schema.services.filter((service) => !isWanted(service)).map(({ name }) => name);
  if (leftOut.length > 0) config.warn(`not reachable: ${leftOut.join(", ")} (name them in services to serve them)`);
  return services;
}

/** A backend whose name no service has is a slip of the pen: what is meant for it would go elsewhere. */
function warnOfNames({ services }: Schema, { backends, warn }: Config): void {
  const isUsed = (entry: string) => services.some(({ name }) => listsService([entry], name));
  for (const entry of backends.keys()) if (!isUsed(entry)) warn(`backends["${entry}"]: the schema has no such service`);
}

function requireBackend(config: Config, { name }: Service): Required<Backend> {
  const backend = backendOf(config, name);
  if (!backend) throw misconfigured(`backends: ${name} has none; name it, its package as "pkg.*", or "*"`);
  return backend;
}

function createUpstream({ url, fetch, protocol }: Required<Backend>, config: Config): CallFn {
  const options = { url, fetch, readMaxBytes: config.upstreamReadMaxBytes, offersGzip: config.upstreamGzip };
  if (protocol === "connect") return createConnectUpstream({ ...options, connectGet: config.connectGet });
  return createGrpcWebUpstream({ ...options, convert: protocol === "grpc" });
}

/** Outermost: a stream that is refused costs nothing. */
function streamPolicies({ streamIdleMs, maxStreams }: Config): readonly Policy[] {
  return streamIdleMs === undefined ? [] : [createStreamLimits({ idleMs: streamIdleMs, maxStreams })];
}

function passthroughOf(
  { kind }: Method,
  { protocol }: Required<Backend>,
  { policies, streamIdleMs }: Config,
): Passthrough {
  if (policies.some((policy) => policy.reads === "message")) return "none";
  if (kind !== "unary" && streamIdleMs !== undefined) return "none";
  return protocol === "connect" ? "connect" : "grpc-web";
}

function onion(policies: readonly Policy[], upstream: CallFn): CallFn {
  return policies.reduceRight((next, policy) => policy.wrap(next), upstream);
}

/** Codecs are compiled when a call first needs them. */
function planMethod(
  method: Method,
  codecs: (message: Message) => Codec,
  call: CallFn,
  passthrough: Passthrough,
): MethodPlan {
  return {
    method,
    call,
    passthrough,
    codecs: {
      get input() {
        return codecs(method.input);
      },
      get output() {
        return codecs(method.output);
      },
    },
  };
}

function createCodecs(schema: Schema, config: Config): (message: Message) => Codec {
  const context: CodecContext = { registry: schema, options: config };
  return (message) => compileCodec(message, context);
}

function builtin(schema: Schema, name: string): Message {
  const message = schema.message(name);
  if (!message) throw new Error(`no built-in message ${name}`);
  return message;
}

function readClientOptions(config: Config): ClientOptions {
  return {
    ...config,
    metadata: {
      allow: config.allowHeaders,
      deny: config.denyHeaders,
      prefix: config.metadataPrefix,
      clientIpHeader: config.clientIpHeader,
      maxBytes: config.maxHeaderBytes,
    },
    framing: config,
    socketOrigins: compileOrigins(config.cors?.allowOrigins ?? []),
  };
}
