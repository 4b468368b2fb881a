import {
  closeAggregate,
  mergeInto,
  type OpenAggregate,
  openAggregate,
} from "../../../stats/distribution/distribution.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { decodeSketch, encodeSketch } from "../../../stats/distribution/sketch.ts";
import { type PackedPart, parsePack, replaceInPack } from "../../store/history/rollup-pack.ts";
import {
  type Bucket,
  DAY_MS,
  HOUR_MS,
  measureRollupsAt,
  MINUTE_MS,
  readRollupsAt,
  readUnpacked,
  readUnrolled,
  ROLLUP_STEPS_MS,
  type Rollup,
  type RollupStepMs,
  type RollingPoint,
  savePacks,
  saveRollups,
  widerThan,
} from "../../store/history/rollup-store.ts";

/** Points of one step: some tens of milliseconds of work, after which it yields. */
const STEP_POINTS = 1_000;
/** Bytes of stored rollups and points of one step, unless it is a single point: it takes several times as much memory. */
const STEP_BYTES = 8 * 1_024 ** 2;
/** Rollups of one step of packing. */
const STEP_PACKS = 100;

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
    points += rolled.points;
    if (rolled.isDone) return { points, isDone: true };
  }
  return { points, isDone: false };
}

/** Number of points rolled up, and whether these were all; null while another call rolls up. */
async function rollStep(binding: D1Database): Promise<{ points: number; isDone: boolean } | null> {
  const { state, points: next } = await readUnrolled(binding, STEP_POINTS);
  const points = await cutStep(binding, next);
  const last = points.at(-1);
  if (last === undefined) return { points: 0, isDone: true };
  const merged = mergePlaces(points);
  const places = [...merged.values()];
  const wide = await readRollupsAt(
    binding,
    places.filter(({ stepMs }) => stepMs > MINUTE_MS),
  );
  const packs = new Map(wide.map((rollup) => [placeText(rollup), rollup.parts]));
  // An hour that is older than packs keeps its minutes as rows until both are forgotten.
  const hasPack = (place: Place) => packs.get(placeText(place)) !== null;
  const isRow = (place: OpenRollup) => place.stepMs > MINUTE_MS || !hasPack(widen(place)!);
  const minutes = await readRollupsAt(
    binding,
    places.filter((place) => place.stepMs === MINUTE_MS && isRow(place)),
  );
  for (const rollup of [...wide, ...minutes, ...wide.flatMap(minutesOf)]) {
    const open = merged.get(placeText(rollup));
    if (open === undefined) continue;
    mergeInto(open.aggregate, rollup, decodeSketch(rollup.sketch));
    if (open.runId !== rollup.runId) open.runId = null;
  }
  const closed = places.map(({ aggregate, ...place }) => ({
    ...place,
    ...closeAggregate(aggregate, LIMITS.rollupSketchLength),
  }));
  const parts = Map.groupBy(closed, (place) => placeText(widen(place) ?? place));
  const rollups = closed
    .filter((_, index) => isRow(places[index]!))
    .map((place): Rollup => {
      const text = placeText(place);
      const isPacked = place.stepMs > MINUTE_MS && hasPack(place);
      const own = (parts.get(text) ?? []).filter(({ stepMs }) => stepMs < place.stepMs);
      return { ...place, parts: isPacked ? replaceInPack(packs.get(text) ?? "", own.map(toPart)) : null };
    });
  const outcome = await saveRollups(binding, state, last.seq, rollups, tally(points));
  const isDone = points.length === next.length && next.length < STEP_POINTS;
  return outcome === "saved" ? { points: points.length, isDone } : null;
}

/** The first points that are within a step's bytes, with the rollups that they go into; at least one. */
async function cutStep(binding: D1Database, points: readonly RollingPoint[]): Promise<readonly RollingPoint[]> {
  const places = new Map(points.flatMap(placesOf).map((place) => [placeText(place), place]));
  const measured = await measureRollupsAt(binding, [...places.values()]);
  const uncounted = new Map(measured.map(({ bytes, ...place }) => [placeText(place), bytes]));
  let bytes = 0;
  const end = points.findIndex((point, index) => {
    bytes += point.sketch.length;
    for (const text of placesOf(point).map(placeText)) {
      bytes += uncounted.get(text) ?? 0;
      uncounted.delete(text);
    }
    return index > 0 && bytes > STEP_BYTES;
  });
  return end === -1 ? points : points.slice(0, end);
}

/** Packs rollups from before packs; returns whether there may be more. */
export async function packRollups(binding: D1Database): Promise<boolean> {
  const { state, rollups } = await readUnpacked(binding, STEP_PACKS);
  if (rollups.length === 0) return false;
  const packs = rollups.map(({ place, parts }) => {
    const stepMs = place.stepMs === DAY_MS ? HOUR_MS : DAY_MS;
    const own = parts.map((part) => toPart({ ...part, stepMs, sketch: boundSketch(part.sketch) }));
    return { ...place, parts: replaceInPack("", own) };
  });
  return (await savePacks(binding, state, packs)) === "saved" && rollups.length === STEP_PACKS;
}

/** Rollups from before packs may have longer sketches. */
function boundSketch(sketch: string): string {
  const maxLength = LIMITS.rollupSketchLength;
  return sketch.length <= maxLength ? sketch : encodeSketch(decodeSketch(sketch), maxLength);
}

type Place = Pick<OpenRollup, "seriesNo" | "stepMs" | "atMs">;

/** The rollups that a point belongs to. */
function placesOf({ seriesNo, atMs }: RollingPoint): Place[] {
  return ROLLUP_STEPS_MS.map((stepMs) => ({ seriesNo, stepMs, atMs: Math.floor(atMs / stepMs) * stepMs }));
}

/** Place of the next wider rollup; undefined for the widest. */
function widen({ seriesNo, stepMs, atMs }: Place): Place | undefined {
  const wideMs = widerThan(stepMs);
  return wideMs === undefined ? undefined : { seriesNo, stepMs: wideMs, atMs: Math.floor(atMs / wideMs) * wideMs };
}

function toPart({ stepMs, atMs, ...part }: Omit<Rollup, "parts" | "stepMs"> & Pick<Place, "stepMs">): PackedPart {
  const wideMs = widerThan(stepMs) ?? stepMs;
  return { ...part, place: (atMs % wideMs) / stepMs };
}

/** The minutes of an hour's pack. */
function minutesOf({ seriesNo, stepMs, atMs, parts }: Rollup): (Bucket & Place)[] {
  if (stepMs !== HOUR_MS || parts === null) return [];
  return parsePack(parts, seriesNo, atMs, MINUTE_MS).map((part) => ({ ...part, stepMs: MINUTE_MS }));
}

interface OpenRollup {
  readonly seriesNo: number;
  readonly stepMs: RollupStepMs;
  readonly atMs: number;
  runId: string | null;
  readonly aggregate: OpenAggregate;
}

function placeText({ seriesNo, stepMs, atMs }: Place): string {
  return `${seriesNo}/${stepMs}/${atMs}`;
}

/** Points by the rollups that they belong to. */
function mergePlaces(points: readonly RollingPoint[]): Map<string, OpenRollup> {
  const merged = new Map<string, OpenRollup>();
  for (const point of points) {
    const sketch = decodeSketch(point.sketch);
    const { runId } = point;
    for (const place of placesOf(point)) {
      const text = placeText(place);
      const open = merged.get(text) ?? { ...place, runId, aggregate: openAggregate() };
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
