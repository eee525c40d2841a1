import { openHttpNetwork } from "./http-network.ts";
import { testFaults } from "./suite.ts";

await testFaults("connect", await openHttpNetwork());
