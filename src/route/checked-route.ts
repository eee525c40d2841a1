/** The route of a rule that was checked when its schema image was made: its fields are found when a request first needs them. */
import { Code, ConnectError } from "@connectrpc/connect";
import type { Field, HttpRule, Message, Method, Template } from "../schema/model.ts";
import type { Route, RouteVariable } from "./route.ts";

type Fields = Required<Pick<Route, "variables" | "body" | "responseBody">>;

export class CheckedRoute implements Route {
  readonly method: Method;
  readonly rule: HttpRule;
  readonly httpMethod: string;
  readonly template: Template;
  #found: Fields | undefined;

  /** @param rule one with `checked`. */
  constructor(method: Method, rule: HttpRule) {
    this.method = method;
    this.rule = rule;
    this.httpMethod = rule.method;
    this.template = rule.checked as Template;
  }

  get variables(): readonly RouteVariable[] {
    return this.#fields.variables;
  }

  get body(): Route["body"] {
    return this.#fields.body;
  }

  get responseBody(): Route["responseBody"] {
    return this.#fields.responseBody;
  }

  get #fields(): Fields {
    this.#found ??= findFields(this);
    return this.#found;
  }
}

function findFields({ method: { input, output }, rule: { body, responseBody }, template }: Route): Fields {
  return {
    variables: template.variables.map((variable) => ({ ...variable, path: findPath(input, variable.field) })),
    body: body === "*" ? body : findField(input, body),
    responseBody: findField(output, responseBody),
  };
}

/** @param name may be none. */
function findField(message: Message, name: string): Field | undefined {
  return name === "" ? undefined : requireField(message, name);
}

function findPath(input: Message, names: string): readonly Field[] {
  const path: Field[] = [];
  let message: Message | undefined = input;
  for (const name of names.split(".")) {
    const field = requireField(message, name);
    path.push(field);
    message = field.message;
  }
  return path;
}

/** @throws ConnectError internal where an image lies: a rule without fault names no such field. */
function requireField(message: Message | undefined, name: string): Field {
  const field = message?.fields.find((candidate) => candidate.name === name);
  if (!field) throw new ConnectError(`the schema image has no field ${name}`, Code.Internal);
  return field;
}
