/** `isthmus`: createGateway for every source of a schema; @bufbuild/protobuf reads those that are no image. */
import type { GatewayOptions } from "./options.ts";
import { compilePlan } from "./plan.ts";
import { readSchema } from "./schema/read.ts";
import { type Gateway, openGateway } from "./serve.ts";

export type { Call, CallFn, FetchFn, HttpFilter, Policy, Reply } from "./call.ts";
export type { CorsOptions } from "./filter/cors.ts";
export type { Backend, GatewayOptions } from "./options.ts";
export type { ServiceConfig, ServiceConfigRule } from "./schema/service-config.ts";
export type { Gateway } from "./serve.ts";
export { readVariables } from "./variables.ts";

/**
 * A gateway in front of the services of a schema.
 *
 * @throws ConnectError invalid_argument for an option that is unknown or wrong, a schema that cannot be read, a service
 *   without a backend, and, with `onFault: "throw"`, for faults in http rules, each on its own line.
 */
export function createGateway(options: GatewayOptions): Gateway {
  return openGateway(compilePlan(options, () => readSchema(options.schema)));
}
