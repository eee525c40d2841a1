/** `isthmus routes`: what is served over REST, one binding a line. */
import { formatFault } from "../config.ts";
import { formatRoutes } from "../route/format.ts";
import { compileRules } from "../route/rule.ts";
import { readSchema } from "../schema/read.ts";
import { loadSchema } from "./schema.ts";

export async function listRoutes({ schema: path }: { readonly schema: string }): Promise<void> {
  const schema = readSchema(await loadSchema(path));
  const { routes, faults } = compileRules(schema, undefined);
  for (const fault of faults) console.error(`${fault.severity}: ${formatFault(fault)}`);
  process.stdout.write(formatRoutes(routes));
}
