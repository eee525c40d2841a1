import { createGateway } from "../../../src/image-gateway.ts";
import type { Gateway } from "../../../src/serve.ts";
import { BACKENDS } from "../calls.ts";

export function open(schema: ArrayBuffer): Gateway {
  return createGateway({ schema, backends: BACKENDS, onFault: "skip", warn: () => undefined });
}
