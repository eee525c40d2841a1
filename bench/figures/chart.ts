/** Charts as SVG, drawn by Vega. */
import { None, parse, View } from "vega";
import { compile, type TopLevelSpec } from "vega-lite";

/** Wide enough for a page of the repository, high enough for ten subjects. */
const SIZE = { width: 480, height: 220 } as const;

/** Pixels of a picture of spans: its width, a row, a letter. */
const SPANS = { width: 1200, row: 15, letter: 6.1 } as const;
const NOISY_OPACITY = 0.35;
/** Names are written out. */
const UNCUT = { axis: { labelLimit: 0 }, legend: { labelLimit: 0 } } as const;

export interface Point {
  /** Which bar or line it belongs to. */
  readonly series: string;
  /** What it is the figure of. A number where the chart has lines. */
  readonly at: string | number;
  readonly value: number;
  /** Its rounds were too far apart: it is drawn pale. */
  readonly noisy: boolean;
}

/** A bar for each series, one chart for each `at`, in which the bars are to a scale of their own. */
export function drawBars(title: string, unit: string, points: readonly Point[]): Promise<string> {
  return draw({
    title,
    data: { values: [...points] },
    facet: { field: "at", type: "nominal", sort: [...new Set(points.map(({ at }) => String(at)))], title: null },
    columns: 2,
    spec: {
      ...SIZE,
      mark: "bar",
      encoding: {
        y: { field: "series", type: "nominal", sort: null, title: null },
        x: { field: "value", type: "quantitative", title: unit },
        opacity: { condition: { test: "datum.noisy", value: NOISY_OPACITY }, value: 1 },
      },
    },
    resolve: { scale: { x: "independent" } },
  });
}

/** A line for each series, both axes logarithmic. */
export function drawLines(title: string, axis: string, unit: string, points: readonly Point[]): Promise<string> {
  return draw({
    ...SIZE,
    title,
    data: { values: [...points] },
    encoding: {
      x: { field: "at", type: "quantitative", title: axis, scale: { type: "log" } },
      y: { field: "value", type: "quantitative", title: unit, scale: { type: "log" } },
      color: { field: "series", type: "nominal", sort: null, title: null },
    },
    layer: [
      { mark: "line" },
      {
        mark: { type: "point", filled: true, size: 60 },
        encoding: { opacity: { condition: { test: "datum.noisy", value: NOISY_OPACITY }, value: 1 } },
      },
    ],
  });
}

export interface Span {
  readonly name: string;
  /** Its colour. */
  readonly group: string;
  /** 0 to 1. */
  readonly start: number;
  readonly end: number;
  /** From 0, the lowest row. */
  readonly depth: number;
}

/** Spans one above the other, each with as much of its name as it has room for. */
export function drawSpans(title: string, spans: readonly Span[]): Promise<string> {
  const deepest = Math.max(...spans.map(({ depth }) => depth));
  const values = spans.map((span) => {
    const letters = Math.floor(((span.end - span.start) * SPANS.width) / SPANS.letter);
    return { ...span, top: span.depth + 1, text: letters < 3 ? "" : span.name.slice(0, letters) };
  });
  const domain = [0, deepest + 1];
  const x = { field: "start", type: "quantitative", title: "share of the time", axis: { format: "%" } } as const;
  const y = { field: "depth", type: "quantitative", axis: null, scale: { domain } } as const;
  return draw({
    width: SPANS.width,
    height: (deepest + 1) * SPANS.row,
    title,
    data: { values },
    layer: [
      {
        mark: { type: "rect", stroke: "white", strokeWidth: 0.5 },
        encoding: {
          x,
          y,
          x2: { field: "end" },
          y2: { field: "top" },
          color: { field: "group", type: "nominal", sort: null, title: null },
        },
      },
      {
        mark: { type: "text", align: "left", baseline: "bottom", dx: 2, dy: -2, fontSize: 10, font: "monospace" },
        encoding: { x, y, text: { field: "text" } },
      },
    ],
  });
}

async function draw(spec: TopLevelSpec): Promise<string> {
  const { spec: vega } = compile({ background: "white", config: UNCUT, ...spec });
  const view = new View(parse(vega), { renderer: "none" }).logLevel(None);
  try {
    return await view.toSVG();
  } finally {
    view.finalize();
  }
}
