/** Faults of the codec that were found with Google's conformance suite and hostile input, each with others of its kind. */
import { testCases } from "./suite.ts";

await testCases("codec-siblings.jsonl");
