/** What a browser makes of an event stream: WHATWG HTML §9.2.6, "Interpreting an event stream". */

export interface ServerEvent {
  readonly event: string;
  readonly data: string;
  /** The last event ID when it was dispatched. */
  readonly id: string;
}

/** @returns the events that are dispatched; one that the text breaks off in is not. */
export function readEvents(text: string): ServerEvent[] {
  const events: ServerEvent[] = [];
  let event = "";
  let id = "";
  let data: string[] = [];
  for (const line of text.split(/\r\n|\r|\n/).slice(0, -1)) {
    if (line === "") {
      if (data.length > 0) events.push({ event: event || "message", data: data.join("\n"), id });
      event = "";
      data = [];
      continue;
    }
    const colon = line.indexOf(":");
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "event") event = value;
    else if (name === "data") data.push(value);
    else if (name === "id") id = value;
  }
  return events;
}
