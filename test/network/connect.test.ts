import { testFaults } from "./suite.ts";

await testFaults("connect");
