import { cpus } from "node:os";
import type { Client } from "../src/client/client.ts";
import { ensureBuilt } from "../src/local/build.ts";
import { endpoints } from "../src/protocol/endpoints.ts";
import { LIMITS } from "../src/protocol/wire/limits.ts";
import type { Bench } from "./benches.ts";
import { runContest } from "./contest.ts";
import { ROOT } from "./hop/start-stack.ts";
import { startEdgePage } from "./page/edge-page.ts";
import { panOurs } from "./page/pan-ours.ts";
import { panPlainUplot } from "./page/pan-plain-uplot.ts";
import type { PanCase, PannedPoints } from "./page/panned-points.ts";
import { plantPoints } from "./page/plant-points.ts";

const POINTS = 100_000;
const GAP_S = 60;
const PERCENTILES = ["p50", "p95", "p99"] as const;
/** Width of the frame in the page at 1,280 pixels. */
const PLOT_WIDTH_PX = 1_206;
/** Largest difference of two plots' outlines, as a share of the height. */
const OUTLINE_TOLERANCE = 0.05;

const METRICS = {
  "frames/s": { unit: "1/s", better: "higher" },
  "p95 gap": { unit: "ms", better: "lower" },
} as const;

/** A history of a hundred thousand points, panned in a browser: the page against uPlot with all points. */
export const benchPage: Bench = async function* benchPage(context) {
  const say = (text: string) => context.say(`${context.bench}: ${text}`);
  await ensureBuilt(ROOT, say);
  const page = await startEdgePage();
  const { url, adminKey: key, client, browser } = page;
  try {
    say(`reporting ${POINTS} points`);
    const startS = Date.now() / 1_000 - POINTS * GAP_S;
    const seriesId = await plantPoints(client, { subject: "panned", points: POINTS, startS, gapS: GAP_S, valuesOf });
    const points = await readBack(client, seriesId);
    const caseOf = (name: string, share: number) => ({ name: `${name} of ${POINTS} points`, input: { points, share } });
    yield* runContest<PanCase>(
      {
        metrics: METRICS,
        device: { name: cpus()[0]?.model.trim() ?? "unknown", software: false },
        cases: [caseOf("two thirds", 2 / 3), caseOf("a tenth", 0.1)],
        ours: panOurs(browser, { url, key, seriesId }),
        peers: { "plain-uplot": panPlainUplot(browser, PLOT_WIDTH_PX) },
        check: checkOutline,
      },
      context,
    );
  } finally {
    await page.stop();
  }
};

/** Samples of a point: a slow wave with noise and slower outliers. */
function valuesOf(place: number): number[] {
  const base = 10 + Math.sin(place / 4_000) + ((place * 7_919) % 1_000) / 2_000;
  return [base, base + 1, base + 1 + ((place * 104_729) % 1_000) / 200];
}

/** The points as the page receives them. */
async function readBack(client: Client, series: string): Promise<PannedPoints> {
  const pages = [];
  let cursor: string | null | undefined;
  while (cursor !== null) {
    const query = { series, limit: LIMITS.historyPoints, ...(cursor !== undefined && { cursor }) };
    const page = await client.call(endpoints.listPoints, { query });
    pages.unshift(page.points);
    cursor = page.nextCursor;
  }
  const points = pages.flat();
  return {
    timesS: points.map(({ at }) => Date.parse(at) / 1_000),
    percentiles: PERCENTILES.map((name) => points.map(({ percentiles }) => percentiles[name] ?? Number.NaN)),
  };
}

/** Checks each outline against the points themselves: the highest of them near each place. */
function checkOutline({ points, share }: PanCase, outline: Float32Array): void {
  const { timesS, percentiles } = points;
  const highest = percentiles.at(-1)!;
  const shown = timesS.length * share;
  const from = (timesS.length - shown) / 2;
  const near = (shown * 4) / PLOT_WIDTH_PX;
  const top = 1.15 * maximum(highest.slice(Math.floor(from), Math.ceil(from + shown)));
  for (const [place, height] of outline.entries()) {
    const middle = from + ((place + 0.5) / outline.length) * shown;
    const expected = maximum(highest.slice(Math.floor(middle - near), Math.ceil(middle + near) + 1)) / top;
    if (Math.abs(height - expected) <= OUTLINE_TOLERANCE) continue;
    throw new Error(
      `the line reaches ${height.toFixed(3)} of the height at place ${place}, and should ${expected.toFixed(3)}`,
    );
  }
}

function maximum(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
}
