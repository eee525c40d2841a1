/** The catalogue, run against the gateway in workerd. */
import { testCases } from "./suite.ts";

await testCases("catalog.jsonl", "known-failing.txt");
