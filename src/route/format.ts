/** Writes the route table for people. */
import type { Route } from "./route.ts";

/** One binding a line, in columns: HTTP method, template, rpc path, then body and response_body where there are any. */
export function formatRoutes(routes: readonly Route[]): string {
  const rows = routes.map(({ httpMethod, rule, method }) => [
    httpMethod,
    rule.template,
    method.path,
    [rule.body && `body=${rule.body}`, rule.responseBody && `response_body=${rule.responseBody}`]
      .filter(Boolean)
      .join(" "),
  ]);
  const widths = [0, 1, 2].map((column) => Math.max(0, ...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
}
