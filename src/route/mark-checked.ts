/** What `isthmus compile` knows of http rules, put into the schema, so that no isolate has to find it out again. */
import type { HttpRule, Schema } from "../schema/model.ts";
import { withRules } from "../schema/service-config.ts";
import { compileRules } from "./rule.ts";

/**
 * @returns the schema with the parsed template beside each rule of a reachable service that is without fault; warnings
 *   count as faults here, because a gateway tells them when it starts.
 */
export function markChecked(schema: Schema): Schema {
  const { routes, faults } = compileRules(schema, undefined);
  const warned = new Set(faults.map(({ method, template }) => `${method} ${template}`));
  const templates = new Map(routes.map(({ rule, template }) => [rule, template]));
  const services = schema.services.map((service) =>
    withRules(service, ({ name, rules }) =>
      rules.map((rule): HttpRule => {
        const template = warned.has(`${service.name}.${name} ${rule.template}`) ? undefined : templates.get(rule);
        return template ? { ...rule, checked: template } : rule;
      }),
    ),
  );
  return { ...schema, services };
}
