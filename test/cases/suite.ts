/** A file of cases as tests of the gateway in workerd. */
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { readCases } from "./case.ts";
import { readDescriptors } from "./descriptors.ts";
import { readKnownFailing } from "./known-failing.ts";
import { openSession } from "./session.ts";

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/**
 * Await it at the top of a test file.
 *
 * @param file `x.jsonl` in this folder.
 * @param knownFailing list in this folder; what is listed in it must fail. Default: none.
 */
export async function testCases(file: string, knownFailing?: string): Promise<void> {
  const cases = await readCases(path(file));
  const known = new Map(knownFailing === undefined ? [] : await readKnownFailing(path(knownFailing)));
  const session = await openSession(cases, await readDescriptors(path("catalog.proto")));
  afterAll(() => session.stop());

  if (knownFailing !== undefined) {
    it("lists as failing only cases that exist", () => {
      const ids = new Set(cases.map((test) => test.id));
      expect([...known.keys()].filter((id) => !ids.has(id))).toEqual([]);
    });
  }

  for (const area of new Set(cases.map((test) => test.area))) {
    describe(area, () => {
      for (const test of cases.filter((candidate) => candidate.area === area)) {
        const reason = known.get(test.id);
        if (reason === undefined) {
          it(test.id, async () => {
            expect(await session.run(test)).toEqual([]);
          });
        } else {
          it(`${test.id} fails: ${reason}`, async () => {
            expect(await session.run(test), "passes, but is listed as failing").not.toEqual([]);
          });
        }
      }
    });
  }
}
