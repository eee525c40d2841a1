/** Reads the google.api.http option of a method. */
import { type DescMethod, getOption, hasOption, type Registry } from "@bufbuild/protobuf";
import type { HttpRule } from "./model.ts";

/** All rules of a method: the main one, then its additional bindings. Empty when it has no google.api.http option. */
export type RuleReader = (method: DescMethod) => readonly HttpRule[];

/** google.api.HttpRule as protobuf-es holds it; its type is in the set, not in this program. */
interface HttpRuleMessage {
  readonly pattern:
    | { readonly case: "get" | "put" | "post" | "delete" | "patch"; readonly value: string }
    | { readonly case: "custom"; readonly value: { readonly kind: string; readonly path: string } }
    | { readonly case: undefined };
  readonly body: string;
  readonly responseBody: string;
  readonly additionalBindings: readonly HttpRuleMessage[];
}

export function createRuleReader(registry: Registry): RuleReader {
  const http = registry.getExtension("google.api.http");
  return (method) => {
    if (!http || !hasOption(method, http)) return [];
    const rule = getOption(method, http) as HttpRuleMessage;
    return [readRule(rule, false), ...rule.additionalBindings.map((binding) => readRule(binding, true))];
  };
}

function readRule(rule: HttpRuleMessage, additional: boolean): HttpRule {
  return {
    ...readPattern(rule.pattern),
    body: rule.body,
    responseBody: rule.responseBody,
    nested: additional && rule.additionalBindings.length > 0,
  };
}

function readPattern(pattern: HttpRuleMessage["pattern"]): { method: string; template: string } {
  if (pattern.case === undefined) return { method: "", template: "" };
  if (pattern.case === "custom") return { method: pattern.value.kind, template: pattern.value.path };
  return { method: pattern.case.toUpperCase(), template: pattern.value };
}
