import schema from "../../gen/schema.bin";
import { createGateway } from "../../src/image-gateway.ts";
import { BACKENDS, callingWorker } from "./calls.ts";

export default callingWorker(() =>
  createGateway({ schema, backends: BACKENDS, onFault: "skip", warn: () => undefined }),
);
