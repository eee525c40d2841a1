/** `isthmus routes`: what is served over REST, one binding a line. */
import { formatFault } from "../config.ts";
import { formatRoutes } from "../route/format.ts";
import { loadRules, type SchemaArguments } from "./schema.ts";

export async function listRoutes(schema: SchemaArguments): Promise<void> {
  const { routes, faults } = await loadRules(schema);
  for (const fault of faults) console.error(`${fault.severity}: ${formatFault(fault)}`);
  process.stdout.write(formatRoutes(routes));
}
