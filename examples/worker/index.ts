/** The smallest Worker: a gateway is its handler. In a project of yours, import from "isthmus" (`npx isthmus init`). */
import schema from "../../gen/api.binpb";
import { createGateway } from "../../src/gateway.ts";

export default createGateway({
  schema,
  backends: { "*": { url: "http://127.0.0.1:8080" } },
});
