/**
 * `npm run soak [-- --minutes 5] [--callers 1000] [--hostile 0.5]`: prints what held and what did not. Exit code 1 when something did not.
 * The memory's slope is told from four minutes on: a new process grows for two.
 */
import { parseArgs } from "node:util";
import { soak } from "./soak.ts";
import { judge, judgeSpeed } from "./verdict.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "5" },
    callers: { type: "string", default: "1000" },
    hostile: { type: "string", default: "0.5" },
  },
});
const seconds = Number(values.minutes) * 60;
const quietSeconds = Math.min(30, seconds / 4);
const report = await soak({
  callers: Number(values.callers),
  hostile: Number(values.hostile),
  quietSeconds,
  attackSeconds: seconds - quietSeconds,
});

const verdict = [...judge(report), judgeSpeed(report)];
for (const text of report.faultTexts) console.log(text);
for (const { what, seen, holds } of verdict) console.log(`${holds ? "holds" : "FAILS"}  ${what}: ${seen}`);
const { faultTexts: _, ...figures } = report;
console.log(`result ${JSON.stringify({ soak: { minutes: Number(values.minutes), ...figures } })}`);
process.exit(verdict.every(({ holds }) => holds) ? 0 : 1);
