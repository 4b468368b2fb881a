import {
  closeAggregate,
  mergeInto,
  type OpenAggregate,
  openAggregate,
} from "../../../stats/distribution/distribution.ts";
import { decodeSketch } from "../../../stats/distribution/sketch.ts";
import {
  readRollupsAt,
  readUnrolled,
  ROLLUP_STEPS_MS,
  type Rollup,
  type RollingPoint,
  saveRollups,
} from "../../store/history/rollup-store.ts";

/** Points of one step: some tens of milliseconds of work, after which it yields. */
const STEP_POINTS = 1_000;

/**
 * Merges new points into the rollups by minute, hour, day and four weeks, step by step until all are done or `maxSteps`
 * are reached. It may stop anywhere and continue later: a step is stored whole or not at all. A late point goes into
 * the rollups of its time.
 */
export async function rollUp(binding: D1Database, maxSteps: number): Promise<{ points: number; isDone: boolean }> {
  let points = 0;
  for (let step = 0; step < maxSteps; step++) {
    const rolled = await rollStep(binding);
    if (rolled === null) return { points, isDone: false };
    points += rolled;
    if (rolled < STEP_POINTS) return { points, isDone: true };
  }
  return { points, isDone: false };
}

/** Number of points rolled up; null while another call rolls up. */
async function rollStep(binding: D1Database): Promise<number | null> {
  const { state, points } = await readUnrolled(binding, STEP_POINTS);
  const last = points.at(-1);
  if (last === undefined) return 0;
  const merged = mergePlaces(points);
  const places = [...merged.values()];
  for (const rollup of await readRollupsAt(binding, places)) {
    const open = merged.get(placeText(rollup.seriesNo, rollup.stepMs, rollup.atMs));
    if (open === undefined) continue;
    mergeInto(open.aggregate, rollup, decodeSketch(rollup.sketch));
    if (open.runId !== rollup.runId) open.runId = null;
  }
  const rollups = places.map(({ aggregate, ...place }): Rollup => ({ ...place, ...closeAggregate(aggregate) }));
  const outcome = await saveRollups(binding, state, last.seq, rollups, tally(points));
  return outcome === "saved" ? points.length : null;
}

interface OpenRollup {
  readonly seriesNo: number;
  readonly stepMs: number;
  readonly atMs: number;
  runId: string | null;
  readonly aggregate: OpenAggregate;
}

function placeText(seriesNo: number, stepMs: number, atMs: number): string {
  return `${seriesNo}/${stepMs}/${atMs}`;
}

/** Points by the rollups that they belong to. */
function mergePlaces(points: readonly RollingPoint[]): Map<string, OpenRollup> {
  const merged = new Map<string, OpenRollup>();
  for (const point of points) {
    const sketch = decodeSketch(point.sketch);
    for (const stepMs of ROLLUP_STEPS_MS) {
      const atMs = Math.floor(point.atMs / stepMs) * stepMs;
      const text = placeText(point.seriesNo, stepMs, atMs);
      const { seriesNo, runId } = point;
      const open = merged.get(text) ?? { seriesNo, stepMs, atMs, runId, aggregate: openAggregate() };
      merged.set(text, open);
      mergeInto(open.aggregate, point, sketch);
      if (open.runId !== runId) open.runId = null;
    }
  }
  return merged;
}

function tally(points: readonly RollingPoint[]): [seriesNo: number, points: number, lastMs: number][] {
  return [...Map.groupBy(points, ({ seriesNo }) => seriesNo)].map(([seriesNo, some]) => [
    seriesNo,
    some.length,
    Math.max(...some.map(({ atMs }) => atMs)),
  ]);
}
