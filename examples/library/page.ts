/** Pages of a list that is in the order of names. A token holds the last name of the page before, and the list's own. */
import type { Errors } from "./errors.ts";

const DEFAULT_SIZE = 10;
const MAX_SIZE = 100;

export interface PageRequest {
  readonly pageSize: number;
  readonly pageToken: string;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** "" on the last page. */
  readonly nextPageToken: string;
}

/** @param list names the list, so that a token of another one is refused. */
export function cutPage<T extends { readonly name: string }>(
  list: string,
  all: Iterable<T>,
  { pageSize, pageToken }: PageRequest,
  errors: Errors,
): Page<T> {
  if (pageSize < 0) throw errors.invalid([{ field: "page_size", description: "must not be negative" }]);
  const after = readToken(list, pageToken, errors);
  const rest = [...all].sort(byName).filter(({ name }) => name > after);
  const items = rest.slice(0, Math.min(pageSize || DEFAULT_SIZE, MAX_SIZE));
  const last = items.at(-1);
  return { items, nextPageToken: last && items.length < rest.length ? writeToken(list, last.name) : "" };
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}

function writeToken(list: string, after: string): string {
  return Buffer.from(`${list}\n${after}`).toString("base64url");
}

function readToken(list: string, token: string, errors: Errors): string {
  if (token === "") return "";
  const [name, after] = Buffer.from(token, "base64url").toString().split("\n");
  if (name === list && after !== undefined) return after;
  throw errors.invalid([{ field: "page_token", description: "is not a next_page_token of this list" }]);
}
