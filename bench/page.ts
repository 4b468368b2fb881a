import { mkdtemp, rm } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient } from "../src/client/client.ts";
import { ensureBuilt } from "../src/local/build.ts";
import { createBootstrapSecret } from "../src/local/data-folder.ts";
import { startEdge } from "../src/local/edge-host.ts";
import { endpoints } from "../src/protocol/endpoints.ts";
import { LIMITS } from "../src/protocol/limits.ts";
import type { Bench } from "./benches.ts";
import { runContest } from "./contest.ts";
import { ROOT } from "./hop/start-stack.ts";
import { launchChromium } from "./page/chromium.ts";
import { panOurs } from "./page/pan-ours.ts";
import { panPlainUplot } from "./page/pan-plain-uplot.ts";
import type { PanCase, PannedPoints } from "./page/panned-points.ts";

const POINTS = 100_000;
const GAP_MS = 60_000;
const POINTS_PER_REPORT = 1_000;
const PERCENTILES = ["p50", "p95", "p99"] as const;
/** Of the frame in the page at 1,280 pixels. */
const PLOT_WIDTH_PX = 1_206;
/** How far outlines of two plots may differ, as a share of the height. */
const OUTLINE_TOLERANCE = 0.05;

const METRICS = {
  "frames/s": { unit: "1/s", better: "higher" },
  "p95 gap": { unit: "ms", better: "lower" },
} as const;

/** A history of a hundred thousand points, panned in a browser: the page against uPlot with all points. */
export const benchPage: Bench = async function* benchPage(context) {
  const say = (text: string) => context.say(`${context.bench}: ${text}`);
  await ensureBuilt(ROOT, say);
  const dataDir = await mkdtemp(join(tmpdir(), "millrace-page-"));
  const bootstrapSecret = createBootstrapSecret();
  const edge = await startEdge({ port: 0, dataDir, root: ROOT, bootstrapSecret });
  const browser = await launchChromium();
  try {
    const bootstrap = createClient({ baseUrl: edge.url, key: bootstrapSecret });
    const body = { name: "bench", scopes: ["admin" as const] };
    const { secret: key } = await bootstrap.call(endpoints.createKey, { body });
    const client = createClient({ baseUrl: edge.url, key });
    say(`reporting ${POINTS} points`);
    const seriesId = await plant(client);
    const points = await readBack(client, seriesId);
    const caseOf = (name: string, share: number) => ({ name: `${name} of ${POINTS} points`, input: { points, share } });
    yield* runContest<PanCase>(
      {
        metrics: METRICS,
        device: { name: cpus()[0]?.model.trim() ?? "unknown", software: false },
        cases: [caseOf("two thirds", 2 / 3), caseOf("a tenth", 0.1)],
        ours: panOurs(browser, { url: edge.url, key, seriesId }),
        peers: { "plain-uplot": panPlainUplot(browser, PLOT_WIDTH_PX) },
        check: checkOutline,
      },
      context,
    );
  } finally {
    await browser.close();
    await edge.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
};

/** Reports one series; gives its id. */
async function plant(client: Client): Promise<string> {
  const startMs = Date.now() - POINTS * GAP_MS;
  let id = "";
  for (let first = 0; first < POINTS; first += POINTS_PER_REPORT) {
    const measurements = Array.from({ length: POINTS_PER_REPORT }, (_, index) => {
      const place = first + index;
      const base = 10 + Math.sin(place / 4_000) + ((place * 7_919) % 1_000) / 2_000;
      const values = [base, base + 1, base + 1 + ((place * 104_729) % 1_000) / 200];
      const at = new Date(startMs + place * GAP_MS).toISOString();
      return { subject: "panned", metric: "wallMs", unit: "ms", at, values };
    });
    id = (await client.call(endpoints.reportPoints, { body: { measurements } })).series[0] ?? id;
  }
  return id;
}

/** The points as the page gets them. */
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

/** Each outline against the points themselves: the highest of them near each place. */
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
