/** Reads what `--ca` names. */
import { readFile } from "node:fs/promises";

/**
 * @param path a PEM file; undefined: Node's own authorities.
 * @throws Error whose message is for people.
 */
export async function readCa(path: string | undefined): Promise<{ readonly ca?: string }> {
  if (path === undefined) return {};
  const ca = await readFile(path, "utf8").catch(() => "");
  if (ca.includes("-----BEGIN CERTIFICATE-----")) return { ca };
  throw new Error(`${path}: holds no certificate in PEM; --ca takes a file that does`);
}
