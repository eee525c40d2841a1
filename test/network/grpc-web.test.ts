import { openHttpNetwork } from "./http-network.ts";
import { testFaults } from "./suite.ts";

await testFaults("grpc-web", await openHttpNetwork());
