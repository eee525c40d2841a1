/** The smallest Worker: a gateway is its handler. In a project of yours, import from "isthmus/image" (`npx isthmus init`). */
import schema from "../../gen/schema.bin";
import { createGateway } from "../../src/image-gateway.ts";

export default createGateway({
  schema,
  backends: { "*": { url: "http://127.0.0.1:8080" } },
});
