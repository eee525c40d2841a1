/** Others of the catalogue's kinds, unary: more codes, types, limits, spellings, and faults that were public elsewhere. */
import { testCases } from "./suite.ts";

await testCases("siblings.jsonl");
