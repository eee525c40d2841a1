/** `isthmus/image`: createGateway for schema images, without @bufbuild/protobuf. What a Worker is best made of. */
import type { ImageGatewayOptions } from "./options.ts";
import { compilePlan } from "./plan.ts";
import { readImage } from "./schema/image-read.ts";
import { type Gateway, openGateway } from "./serve.ts";

export type { Call, CallFn, FetchFn, HttpFilter, Policy, Reply } from "./call.ts";
export type { CorsOptions } from "./filter/cors.ts";
export type { Backend, ImageGatewayOptions } from "./options.ts";
export type { ServiceConfig, ServiceConfigRule } from "./schema/service-config.ts";
export type { Gateway } from "./serve.ts";
export { readVariables } from "./variables.ts";

/**
 * A gateway in front of the services of a schema that `isthmus compile` has written. It starts without descriptors, and
 * a message is read when a call first needs it.
 *
 * @throws ConnectError invalid_argument as createGateway of `isthmus`, and for an image that is damaged or of another
 *   release.
 */
export function createGateway(options: ImageGatewayOptions): Gateway {
  return openGateway(compilePlan(options, () => readImage(options.schema)));
}
