/** A flame graph: who calls whom, and how much of the time each has. */
import { drawSpans, type Span } from "../figures/chart.ts";
import type { Frame } from "./shares.ts";

/** Narrower than this part of all time, a frame is left out. */
const NARROWEST = 0.002;

/** The root at depth 0, callers under what they call; in the order of names, so that two graphs can be compared. */
export function layOut(root: Frame): Span[] {
  const spans: Span[] = [];
  const place = ({ name, room, total, children }: Frame, start: number, depth: number): void => {
    const end = start + total / root.total;
    if (end - start < NARROWEST) return;
    spans.push({ name, group: room, start, end, depth });
    let at = start;
    for (const child of children.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      place(child, at, depth + 1);
      at += child.total / root.total;
    }
  };
  place(root, 0, 0);
  return spans;
}

export function drawFlame(title: string, root: Frame): Promise<string> {
  return drawSpans(title, layOut(root));
}
