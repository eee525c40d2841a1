import { testFaults } from "./suite.ts";

await testFaults("grpc-web");
