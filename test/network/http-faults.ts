/**
 * The faults of a backend that speaks Connect or gRPC-Web, and of the network before it: how the proxy makes each, and
 * what has to come of it. Codes are those that the specifications of Connect and gRPC give: their tables from HTTP,
 * unavailable where there was no answer, internal for one that breaks the protocol (DESIGN: an upstream that breaks its
 * protocol gets the code that their clients give it).
 */
import { BODIES, BREAKS } from "./http-body-faults.ts";
import type { HttpFault } from "./http-fault.ts";
import { BEFORE_THE_ANSWER, OTHER_ANSWERS } from "./http-head-faults.ts";
import { LEFTOVERS } from "./http-leftovers.ts";

export const HTTP_FAULTS: readonly HttpFault[] = [
  ...BEFORE_THE_ANSWER,
  ...OTHER_ANSWERS,
  ...BREAKS,
  ...BODIES,
  ...LEFTOVERS,
];
