/** Figures in the README stand between two markers, and nobody else writes there. */
import { readFile, writeFile } from "node:fs/promises";

const README = new URL("../../README.md", import.meta.url);

/**
 * Replaces what stands between `<!-- bench NAME -->` and `<!-- /bench -->`.
 *
 * @throws Error when the README has no such place.
 */
export async function writeNumbers(bench: string, markdown: string): Promise<void> {
  const text = await readFile(README, "utf8");
  const open = `<!-- bench ${bench} -->\n`;
  const start = text.indexOf(open) + open.length;
  const end = text.indexOf("<!-- /bench -->", start);
  if (start < open.length || end < 0) throw new Error(`README.md has no place for the figures of ${bench}`);
  await writeFile(README, `${text.slice(0, start)}${markdown}\n${text.slice(end)}`);
}
