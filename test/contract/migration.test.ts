import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createClient } from "../../src/client/client.ts";
import { mergePoints } from "../../src/edge/history/query/merge-parts.ts";
import { createBootstrapSecret } from "../../src/local/data-folder.ts";
import { startEdge } from "../../src/local/edge-host.ts";
import type { HistoryPoint } from "../../src/protocol/history/history.ts";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { fillOldHistory, migrateBelow, migrateWhole, withDatabase } from "./old-database.ts";

/** A database from before rollups, with points of a hundred days, made new by the migrations since. */

const POINTS = 20_000;
const SERIES = 100;
const DAY_MS = 86_400_000;
const root = join(import.meta.dirname, "../..");
const PERCENTILES = [50, 95, 99];

interface Point {
  readonly id: string;
  readonly atMs: number;
  readonly runId: string | null;
  readonly count: number;
  readonly min: number;
  readonly max: number;
  readonly sum: number;
  readonly sketch: string;
}

const COLUMNS = "at_ms as atMs, source_id as sourceId, run_id as runId, count, min, max, sum, sketch";
let dataDir: string;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "millrace-migration-"));
});
afterAll(() => rm(dataDir, { recursive: true, force: true }));

it("keeps every point and series, and the history answers as before", async () => {
  const toMs = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const [old, migrated, names] = await withDatabase(dataDir, async (database) => {
    await migrateBelow(database, "0006");
    await fillOldHistory(database, { points: POINTS, seriesCount: SERIES, days: 100, toMs });
    const before = await database
      .prepare(`select series_id as id, ${COLUMNS} from points order by source_id`)
      .all<Point>();
    const ids = await database
      .prepare("select id, subject_kind, subject, metric, key, created_at_ms from series order by id")
      .all();
    const applied = await migrateWhole(database);
    const after = await database
      .prepare(`select series.id, ${COLUMNS} from points join series on no = series_no order by source_id`)
      .all<Point>();
    const idsAfter = await database
      .prepare("select id, subject_kind, subject, metric, key, created_at_ms from series order by id")
      .all();
    expect(idsAfter.results).toEqual(ids.results);
    return [before.results, after.results, applied];
  });
  expect(names[0]).toBe("0006_the_memory.sql");
  expect(old).toHaveLength(POINTS);
  expect(migrated).toEqual(old);
  await checkAnswers(old);
});

/** The edge on that database rolls up its points; its answers are compared with the old points. */
async function checkAnswers(old: readonly Point[]): Promise<void> {
  const bootstrapSecret = createBootstrapSecret();
  const edge = await startEdge({ port: 0, dataDir, root, bootstrapSecret, cronMs: 50 });
  try {
    const client = createClient({ baseUrl: edge.url, key: bootstrapSecret });
    const { items } = await client.call(endpoints.listSeries, { query: { limit: 200 } });
    expect(items).toHaveLength(SERIES);
    // Counted when they are rolled up.
    const rolled = async () => {
      const { items: counted } = await client.call(endpoints.listSeries, { query: { limit: 200 } });
      return counted.reduce((sum, { points }) => sum + points, 0);
    };
    await expect.poll(rolled, { timeout: 200_000 }).toBe(POINTS);
    for (const { id } of items.slice(0, 5)) {
      const parts = old.filter((point) => point.id === id).toSorted((a, b) => a.atMs - b.atMs);
      for (const [step, stepMs] of [
        ["1h", 3_600_000],
        ["1d", DAY_MS],
        ["7d", 7 * DAY_MS],
      ] as const) {
        const { points } = await client.call(endpoints.listPoints, { query: { series: id, step, limit: 10_000 } });
        const expected = await mergePoints(parts, stepMs, { percentiles: PERCENTILES, sketches: false });
        expect(points.map(rounded)).toEqual(expected.map(rounded));
      }
    }
  } finally {
    await edge.stop();
  }
}

/** Sums of reals depend on the order in their last digit, and logarithms on whose they are. */
function rounded(point: HistoryPoint): unknown {
  return JSON.parse(JSON.stringify(point), (_, value: unknown) =>
    typeof value === "number" ? Number(value.toPrecision(12)) : value,
  );
}
