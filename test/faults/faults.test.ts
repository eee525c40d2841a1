/** Public faults of other gateways, proxies and RPC stacks, each with others of its kind: none of them is one of ours. */
import { afterAll, describe, expect, it } from "vitest";
import { readDescriptors } from "../cases/descriptors.ts";
import { openSession } from "../cases/session.ts";
import { casesOf, FAULTS_PROTO, readFaults } from "./fault.ts";

const faults = (await readFaults()).map((fault) => ({ ...fault, cases: casesOf(fault) }));
const session = await openSession(
  faults.flatMap(({ cases }) => cases),
  await readDescriptors(FAULTS_PROTO),
);
afterAll(() => session.stop());

for (const { id, why, cases } of faults) {
  describe(`${id}: ${why}`, () => {
    it.each(cases)("$id", async (test) => {
      expect(await session.run(test)).toEqual([]);
    });
  });
}
