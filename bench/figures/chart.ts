/** Charts as SVG, drawn by Vega. */
import { None, parse, View } from "vega";
import { compile, type TopLevelSpec } from "vega-lite";

/** Wide enough for a page of the repository, high enough for ten subjects. */
const SIZE = { width: 480, height: 220 } as const;

const NOISY_OPACITY = 0.35;

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
    facet: { field: "at", type: "nominal", sort: null, title: null },
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
    mark: { type: "line", point: true },
    encoding: {
      x: { field: "at", type: "quantitative", title: axis, scale: { type: "log" } },
      y: { field: "value", type: "quantitative", title: unit, scale: { type: "log" } },
      color: { field: "series", type: "nominal", sort: null, title: null },
    },
  });
}

async function draw(spec: TopLevelSpec): Promise<string> {
  const { spec: vega } = compile({ background: "white", ...spec });
  const view = new View(parse(vega), { renderer: "none" }).logLevel(None);
  try {
    return await view.toSVG();
  } finally {
    view.finalize();
  }
}
