/** What a checked http rule is: the words that router, binding and `isthmus routes` share. */
import type { Field, HttpRule, Method, Template, TemplateVariable } from "../schema/model.ts";

/** One binding of one method: a rule that was checked, with its names resolved to fields. */
export interface Route {
  readonly method: Method;
  readonly rule: HttpRule;
  /** `GET`, …, or `*`. */
  readonly httpMethod: string;
  readonly template: Template;
  /** In the order of `template.variables`. */
  readonly variables: readonly RouteVariable[];
  readonly body?: "*" | Field | undefined;
  readonly responseBody?: Field | undefined;
}

export interface RouteVariable extends TemplateVariable {
  /** The fields along `field`: every one but the last is a singular message. */
  readonly path: readonly Field[];
}

export interface Match {
  readonly route: Route;
  /** Raw (still percent-encoded) text of each variable, in the order of `route.variables`. Verb removed. */
  readonly values: readonly string[];
}

export interface Router {
  /**
   * @param httpMethod as on the request line. HEAD falls back to GET.
   * @param path the raw path of the request, percent-encoded, beginning with "/", without query.
   * @returns the match; or, when the path exists for other methods, those (with HEAD for GET, and OPTIONS), sorted;
   *   or undefined when nothing matches.
   * @throws ConnectError invalid_argument for a bad escape, a segment that is `.` or `..` after decoding, a raw `\`.
   */
  match(httpMethod: string, path: string): Match | { readonly allow: readonly string[] } | undefined;
}
