/** Warnings about routes that are no faults: what is served, but hardly as its author thinks. For `isthmus check`. */
import type { Fault } from "../schema/model.ts";
import { commonPath, compareTemplates, covers } from "./overlap.ts";
import type { Route } from "./route.ts";
import { describeRoute, faultOf } from "./rule.ts";

/**
 * - A route that no request reaches, because one other route takes all of its paths (those with empty segments, `//`,
 *   are not looked at; nor is what several routes take together), or because its path is not the router's.
 * - Two routes of the same method of which neither holds the other, although some paths are of both: other gateways
 *   may choose otherwise. A route within another (`/v1/users/me`, `/v1/users/*`) is nothing to warn of.
 * - A method that clients, proxies or the runtime do not let through; a DELETE with a body.
 *
 * @param routes all routes of a gateway, without duplicates, as `compileRules` returns them.
 * @param taken paths that never come to the router, and what they are instead.
 */
export function adviseRoutes(routes: readonly Route[], taken: ReadonlyMap<string, string>): readonly Fault[] {
  return routes.flatMap((route, index) => [
    ...adviseMethod(route),
    ...adviseReach(route, routes, taken),
    ...routes.slice(0, index).flatMap((other) => adviseOverlap(route, other)),
  ]);
}

/** https://www.iana.org/assignments/http-methods, without `*`. */
const REGISTERED: ReadonlySet<string> = new Set(
  (
    "ACL BASELINE-CONTROL BIND CHECKIN CHECKOUT CONNECT COPY DELETE GET HEAD LABEL LINK LOCK MERGE MKACTIVITY " +
    "MKCALENDAR MKCOL MKREDIRECTREF MKWORKSPACE MOVE OPTIONS ORDERPATCH PATCH POST PRI PROPFIND PROPPATCH PUT QUERY " +
    "REBIND REPORT SEARCH TRACE UNBIND UNCHECKOUT UNLINK UNLOCK UPDATE UPDATEREDIRECTREF VERSION-CONTROL"
  ).split(" "),
);

/** Methods that fetch forbids (Fetch §2.2.1); a Worker is never called with one. */
const FORBIDDEN: ReadonlySet<string> = new Set(["CONNECT", "TRACE", "TRACK"]);

function adviseMethod(route: Route): readonly Fault[] {
  const { httpMethod } = route;
  const upper = httpMethod.toUpperCase();
  if (httpMethod !== upper && (REGISTERED.has(upper) || FORBIDDEN.has(upper))) {
    return [warning(route, `methods are case-sensitive, and "${httpMethod}" is not ${upper}`, `write "${upper}"`)];
  }
  if (FORBIDDEN.has(httpMethod)) {
    return [warning(route, `no request with ${httpMethod} reaches a Worker`, "use another method")];
  }
  if (httpMethod !== "*" && !REGISTERED.has(httpMethod)) {
    const message = `"${httpMethod}" is no registered HTTP method: what stands between may refuse it`;
    return [warning(route, message, "use POST with a verb, if callers are not your own")];
  }
  if (httpMethod === "DELETE" && route.body) {
    const message = "the content of a DELETE has no meaning in HTTP (RFC 9110 §9.3.5): what stands between may drop it";
    return [warning(route, message, "leave body out, or use POST with a verb")];
  }
  return [];
}

function adviseReach(route: Route, routes: readonly Route[], taken: ReadonlyMap<string, string>): readonly Fault[] {
  const { segments, verb } = route.template;
  const owner = segments.some(isWildcard) || verb !== "" ? undefined : taken.get(`/${segments.join("/")}`);
  if (owner !== undefined) return [warning(route, `never reached: the path is ${owner}`, "choose another path")];
  const better = routes.find((other) => isTriedFirst(other, route) && covers(other.template, route.template));
  if (!better) return [];
  const message = `never reached: ${describeRoute(better)} is tried before and takes all of its paths`;
  return [warning(route, message, "make that one narrower, or leave this one out")];
}

/** Every request that `route` could answer is offered to `other` before. */
function isTriedFirst(other: Route, route: Route): boolean {
  return (
    other.template.verb === route.template.verb &&
    takesMethod(other, route.httpMethod) &&
    compareTemplates(other.template, route.template) < 0
  );
}

/** As the router does: HEAD falls back to GET, any method to `*`. */
function takesMethod({ httpMethod }: Route, wanted: string): boolean {
  return httpMethod === wanted || httpMethod === "*" || (wanted === "HEAD" && httpMethod === "GET");
}

function adviseOverlap(route: Route, other: Route): readonly Fault[] {
  const [a, b] = [route.template, other.template];
  const order = compareTemplates(a, b);
  if (a.verb !== b.verb || order === 0) return [];
  if (!takesMethod(route, other.httpMethod) && !takesMethod(other, route.httpMethod)) return [];
  if (covers(a, b) || covers(b, a)) return [];
  const path = commonPath(a, b);
  if (!path) return [];
  const [winner, loser] = order < 0 ? [route, other] : [other, route];
  const text = `/${path.map(encodeURIComponent).join("/")}${a.verb && `:${encodeURIComponent(a.verb)}`}`;
  const message = `${text} fits ${describeRoute(winner)} as well, which takes it; other gateways may choose otherwise`;
  return [warning(loser, message, "tell them apart by a literal segment")];
}

function isWildcard(segment: string): boolean {
  return segment === "*" || segment === "**";
}

function warning({ method, rule }: Route, message: string, fix: string): Fault {
  return faultOf(method, rule, { message, fix, severity: "warning" });
}
