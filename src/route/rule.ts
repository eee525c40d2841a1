/** Checks the http rules of a schema and resolves their names: what is wrong is found here, before any request. */
import type { Fault, Field, HttpRule, Message, Method, Schema, Template, TemplateVariable } from "../schema/model.ts";
import { hasTextForm } from "../schema/special.ts";
import { CheckedRoute } from "./checked-route.ts";
import type { Route, RouteVariable } from "./route.ts";
import { parseTemplate, TemplateError } from "./template.ts";

/** An HTTP method (RFC 9110 §9.1, `token`). */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/**
 * Never throws for a rule: a rule with an error has no route, all others have theirs.
 *
 * @param services full names; undefined: those that the schema names. Rules of other services are not looked at.
 * @returns routes and faults, both in order of declaration.
 */
export function compileRules(
  schema: Schema,
  services: ReadonlySet<string> | undefined,
): { routes: readonly Route[]; faults: readonly Fault[] } {
  const wanted = services ?? schema.named;
  const methods = schema.services.filter((service) => wanted.has(service.name)).flatMap((service) => service.methods);
  const bindings = methods.flatMap((method) => method.rules.map((rule) => ({ method, rule })));
  // What was checked together was compared as well.
  const keyOf = bindings.every(({ rule }) => rule.checked) ? (route: Route) => route.rule : shapeOf;
  const routes = new Map<unknown, Route>();
  const faults: Fault[] = [];
  for (const { method, rule } of bindings) {
    const check = new RuleCheck(method, rule);
    const route = rule.checked ? new CheckedRoute(method, rule) : check.route();
    const first = route && routes.get(keyOf(route));
    if (first) check.fault(`the same method and path as ${describeRoute(first)}`, "change one of them");
    else if (route) routes.set(keyOf(route), route);
    faults.push(...check.faults);
  }
  return { routes: [...routes.values()], faults };
}

/** Equal for routes that match the same requests. */
function shapeOf(route: Route): string {
  return JSON.stringify([route.httpMethod, route.template.verb, ...route.template.segments]);
}

/** `pkg.Service.Method "/v1/{name}"` */
export function describeRoute({ method, rule }: Route): string {
  return `${fullName(method)} "${rule.template}"`;
}

function fullName(method: Method): string {
  return `${method.service.name}.${method.name}`;
}

/** A fault in a rule, with the place where the rule was written. */
export function faultOf(
  method: Method,
  rule: HttpRule,
  details: Omit<Fault, "file" | "line" | "method" | "template">,
): Fault {
  const { service, line } = method;
  const place =
    rule.source === undefined ? { file: service.file, ...(line !== undefined && { line }) } : { file: rule.source };
  return { ...place, method: fullName(method), template: rule.template, ...details };
}

/** One rule under examination; everything wrong with it is collected. */
class RuleCheck {
  readonly faults: Fault[] = [];
  readonly #method: Method;
  readonly #rule: HttpRule;

  constructor(method: Method, rule: HttpRule) {
    this.#method = method;
    this.#rule = rule;
  }

  fault(message: string, fix?: string, column?: number, severity: Fault["severity"] = "error"): void {
    const details = { message, severity, ...(fix !== undefined && { fix }), ...(column !== undefined && { column }) };
    this.faults.push(faultOf(this.#method, this.#rule, details));
  }

  /** The route, or undefined when there were errors. */
  route(): Route | undefined {
    const rule = this.#rule;
    if (rule.nested) this.fault("additional_bindings must not have additional_bindings", "move them one level up");
    if (rule.method === "") {
      this.fault("the rule has no pattern", "add get, put, post, delete, patch, or custom with a kind");
      return undefined;
    }
    if (!TOKEN.test(rule.method)) {
      this.fault(`custom kind "${rule.method}" is no HTTP method`, 'write one, or "*" for any');
    }
    const template = this.#template();
    const variables = template?.variables.map((variable) => this.#variable(template, variable));
    const body = this.#body();
    const responseBody = this.#responseBody();
    if (template && variables) this.#checkTogether(template, variables, body);
    if (!template || !variables || this.faults.some((fault) => fault.severity === "error")) return undefined;
    return {
      method: this.#method,
      rule,
      httpMethod: rule.method,
      template,
      variables,
      ...(body && { body }),
      ...(responseBody && { responseBody }),
    };
  }

  #template(): Template | undefined {
    try {
      const template = parseTemplate(this.#rule.template);
      if (template.warning) {
        const fix = "end the template there if other gateways read it too";
        this.fault(template.warning, fix, template.text.indexOf("**") + 1, "warning");
      }
      return template;
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      this.fault(error.message, error.fix, error.column);
      return undefined;
    }
  }

  #variable(template: Template, variable: TemplateVariable): RouteVariable {
    const path: Field[] = [];
    let message: Message | undefined = this.#method.input;
    for (const name of variable.field.split(".")) {
      const field: Field | undefined = message?.fields.find((candidate) => candidate.name === name);
      const problem = stepProblem(field, name, message, path.at(-1));
      if (problem !== undefined || !field) {
        const fix = field ? "bind a singular field" : nameSuggestion(name, message);
        this.fault(`${variable.field}: ${problem}`, fix, columnOf(template, variable));
        return { ...variable, path };
      }
      path.push(field);
      message = field.message;
    }
    const leaf = path.at(-1);
    if (leaf && !hasTextForm(leaf)) {
      const fix = `bind a field of it, as in {${variable.field}.…}`;
      this.fault(`${variable.field}: a message has no text form`, fix, columnOf(template, variable));
    }
    return { ...variable, path };
  }

  #body(): "*" | Field | undefined {
    const { method, body } = this.#rule;
    if (body === "") return undefined;
    if (method === "GET" || method === "HEAD") {
      this.fault(`a ${method} has no body, but the rule says body: "${body}"`, "leave body out, or write post");
    }
    return body === "*" ? body : this.#topLevelField("body", body, this.#method.input, 'name one, or "*"');
  }

  #responseBody(): Field | undefined {
    const { responseBody } = this.#rule;
    return responseBody === ""
      ? undefined
      : this.#topLevelField("response_body", responseBody, this.#method.output, "name one, or leave it out");
  }

  #topLevelField(option: string, name: string, message: Message, fix: string): Field | undefined {
    const field = message.fields.find((candidate) => candidate.name === name);
    if (!field) this.fault(`${option}: "${name}" is not a top-level field of ${message.name}`, fix);
    return field;
  }

  /** What can be said only of path and body together: no request may be forced to contradict itself. */
  #checkTogether(template: Template, variables: readonly RouteVariable[], body: "*" | Field | undefined): void {
    const bodyField = body === "*" ? undefined : body;
    const members = new Map<string, string>();
    if (bodyField?.oneof) members.set(bodyField.oneof.name, bodyField.name);
    for (const variable of variables) {
      const column = columnOf(template, variable);
      if (bodyField && bodyField === variable.path[0] && hasTextForm(bodyField)) {
        const fix = "take it out of one of them";
        this.fault(`${variable.field} is bound by the path, and ${bodyField.name} is the body`, fix, column);
      }
      const prefix = variable.field.split(".");
      for (const [depth, field] of variable.path.entries()) {
        if (!field.oneof) continue;
        const oneof = [...prefix.slice(0, depth), field.oneof.name].join(".");
        const other = members.get(oneof);
        if (other === undefined) members.set(oneof, field.name);
        else if (other !== field.name) {
          this.fault(`${field.name} and ${other} are members of oneof ${oneof}`, "bind one of them only", column);
        }
      }
    }
  }
}

/** Why `field`, found as `name` in `message`, cannot be a step of a variable's path; undefined when it can. */
function stepProblem(
  field: Field | undefined,
  name: string,
  message: Message | undefined,
  parent: Field | undefined,
): string | undefined {
  if (!message) return `${parent?.name} is no message`;
  if (!field) return `${message.name} has no field ${name}`;
  if (field.repeated) return `${name} is repeated`;
  if (field.map) return `${name} is a map`;
  return undefined;
}

/** 1-based, of the variable's field. A template binds a field once, so its name finds it. */
function columnOf(template: Template, variable: TemplateVariable): number {
  return Math.max(template.text.indexOf(`{${variable.field}}`), template.text.indexOf(`{${variable.field}=`)) + 2;
}

function nameSuggestion(name: string, message: Message | undefined): string {
  const meant = message?.fields.find((field) => field.jsonName === name);
  if (meant) return `write ${meant.name}: templates have names as in the .proto file`;
  return message ? "name one that it has" : "end the path before it";
}
