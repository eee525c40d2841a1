/** Others of the catalogue's kinds, REST streams: lines, arrays, events and raw bytes, and all that breaks them. */
import { testCases } from "./suite.ts";

await testCases("stream-siblings.jsonl");
