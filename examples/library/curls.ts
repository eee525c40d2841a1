/** The commands that `npm start` prints: each is one line of POSIX sh and works as printed, in this order. */

/** Has a second page. */
export const FIRST_PAGE = "/v1/shelves/novels/books?page_size=2";

export interface Curl {
  readonly title: string;
  readonly command: string;
}

/**
 * @param gateway `http://127.0.0.1:8787`
 * @param pageToken of the second page of FIRST_PAGE.
 */
export function listCurls(gateway: string, pageToken: string): readonly Curl[] {
  const shelves = `${gateway}/v1/shelves`;
  const sea = `${shelves}/sea/books`;
  const watch = `${shelves}/novels/books:watch?max_events=2`;
  const rpc = `${gateway}/example.library.v1.LibraryService`;
  const emma = JSON.stringify({ name: "shelves/novels/books/emma" });
  return [
    { title: "list", command: curl(shelves) },
    { title: "a page", command: curl(`${gateway}${FIRST_PAGE}`) },
    { title: "the next page", command: curl(`${gateway}${FIRST_PAGE}&page_token=${pageToken}`) },
    { title: "get", command: curl(`${shelves}/novels/books/emma`) },
    { title: "create", command: curl(`${shelves}?shelf_id=sea`, { json: { theme: "The sea" } }) },
    {
      title: "create below it",
      command: curl(`${sea}?book_id=dracula`, {
        json: { title: "Dracula", authors: ["Bram Stoker"], pages: 418, copiesSold: "9007199254740993" },
      }),
    },
    { title: "change one field", command: curl(`${sea}/dracula`, { method: "PATCH", json: { genre: "NOVEL" } }) },
    { title: "a custom verb", command: curl(`${sea}/dracula:move`, { json: { to: "shelves/nature" } }) },
    { title: "delete", command: curl(`${shelves}/nature/books/dracula`, { method: "DELETE" }) },
    {
      title: "an error with details",
      command: curl(`${shelves}/novels/books?book_id=no%20id`, { json: { pages: -1 } }),
    },
    { title: "a stream, as one array", command: curl(watch) },
    { title: "a stream, line by line", command: curl(watch, { accept: "application/x-ndjson" }) },
    { title: "a stream of events", command: curl(watch, { accept: "text/event-stream" }) },
    { title: "Connect, JSON", command: curl(`${rpc}/GetBook`, { json: JSON.parse(emma) }) },
    {
      title: "Connect GET",
      command: curl(`${rpc}/GetBook?connect=v1&encoding=json&message=${encodeURIComponent(emma)}`),
    },
  ];
}

interface Call {
  readonly method?: string;
  readonly json?: object;
  readonly accept?: string;
}

function curl(url: string, { method, json, accept }: Call = {}): string {
  const words = ["curl", "-s"];
  // Each message is shown when it has come.
  if (accept) words.push("-N", "-H", `'accept: ${accept}'`);
  if (method) words.push("-X", method);
  if (json) words.push("-H", "'content-type: application/json'", "-d", quote(JSON.stringify(json)));
  return [...words, quote(url)].join(" ");
}

/** Single quotes keep everything from the shell but themselves. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
