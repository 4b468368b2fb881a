import type { SweepStep } from "../../../protocol/models/model.ts";
import type { Distribution } from "../../../protocol/wire/distribution.ts";
import { decodeSketch, encodeSketch, scaleSketch } from "../../../stats/distribution/sketch.ts";
import type { LivePlacement } from "../../store/fleet/live-placement-store.ts";

/** Extent of a request: its rows, and the elements of one of them in all inputs. */
export interface Extent {
  readonly rows: number;
  readonly elements: number;
}

/** Sizes within an eighth of a power of two share their times. */
const SIZES_PER_DOUBLING = 4;
/** Growth of the time with the elements beyond all measurements: with one size in proportion, else as between the last two. */
const PROPORTIONAL = 1;
/** Of attention over a sequence; a steeper growth between two measurements is noise. */
const STEEPEST = 2;

/**
 * Placements for a request of this extent, each with the sweep that applies to it. The edge computes a request alone and
 * row by row: its sweep begins at the first step that holds the rows. It is left out where no step does.
 */
export function fitRequest(placements: readonly LivePlacement[], { rows, elements }: Extent): LivePlacement[] {
  return placements.flatMap((placement) => {
    if (placement.backend !== "edge-wasm") return [atSize(placement, elements)];
    if (rows <= 1) return [placement];
    const sweep = sweepFrom(placement.sweep, rows);
    return sweep === null ? [] : [{ ...placement, sweep }];
  });
}

/** Rests of sweeps by their first step, since caches of a sweep use the array as their key. */
const rests = new WeakMap<SweepStep, SweepStep[]>();

/** The steps from the first one that holds the rows; the same array each time, and null where none does. */
function sweepFrom(sweep: SweepStep[], rows: number): SweepStep[] | null {
  const at = sweep.findIndex((step) => step.rows >= rows);
  const first = sweep[at];
  if (first === undefined) return null;
  const rest = rests.get(first) ?? sweep.slice(at);
  rests.set(first, rest);
  return rest;
}

/** Sweeps of a placement at other sizes than the first that was measured, by its own sweep. */
const sized = new WeakMap<SweepStep[], Map<number, SweepStep[]>>();

function atSize(placement: LivePlacement, elements: number): LivePlacement {
  const size = Math.round(SIZES_PER_DOUBLING * Math.log2(elements / placement.measuredElements));
  if (size === 0 || !Number.isFinite(size)) return placement;
  const known = sized.get(placement.sweep) ?? new Map<number, SweepStep[]>();
  sized.set(placement.sweep, known);
  const sweep = known.get(size) ?? sweepAt(placement, 2 ** (size / SIZES_PER_DOUBLING));
  known.set(size, sweep);
  return { ...placement, sweep, size, measured: placement };
}

/** Key of what is known of a placement at one size of requests; keys of all its sizes begin with its id and a slash. */
export function sizeKeyOf({ id, size = 0 }: Pick<LivePlacement, "id" | "size">): string {
  return `${id}/${size}`;
}

/** A measured size: its elements over those of the first, and its sweep. */
interface Measured {
  readonly ratio: number;
  readonly sweep: readonly SweepStep[];
}

/**
 * The sweep at a ratio of elements: that of the nearest measured size, scaled along a power law between the two sizes
 * around it. Below the smallest size, the growth between the two smallest goes on.
 */
function sweepAt({ sweep, sizes, measuredElements }: LivePlacement, ratio: number): SweepStep[] {
  const further = sizes.map((each) => ({ ratio: each.elements / measuredElements, sweep: each.sweep }));
  const measured = [{ ratio: 1, sweep }, ...further].toSorted((one, other) => one.ratio - other.ratio);
  const distance = (each: Measured) => Math.abs(Math.log(each.ratio / ratio));
  const nearest = measured.reduce((best, each) => (distance(each) < distance(best) ? each : best));
  const factor = (ratio / nearest.ratio) ** exponentAt(measured, ratio);
  return nearest.sweep.map(({ rows, serviceMs }) => ({ rows, serviceMs: scale(serviceMs, factor) }));
}

/** Exponent of the time's growth around a ratio; the measured sizes are rising. */
function exponentAt(measured: readonly Measured[], ratio: number): number {
  if (measured.length === 1) return ratio > 1 ? PROPORTIONAL : 0;
  const above = measured.findIndex((each) => each.ratio >= ratio);
  const upper = above === -1 ? measured.length - 1 : Math.max(1, above);
  const [low, high] = [measured[upper - 1]!, measured[upper]!];
  const growth = Math.log(medianOf(high) / medianOf(low)) / Math.log(high.ratio / low.ratio);
  const exponent = Number.isFinite(growth) ? Math.min(STEEPEST, Math.max(0, growth)) : PROPORTIONAL;
  // Small sizes take as long as their launches: a time that hardly grew there says nothing of larger ones.
  return above === -1 ? Math.max(PROPORTIONAL, exponent) : exponent;
}

const medianOf = ({ sweep }: Measured) => sweep[0]?.serviceMs.p50 ?? 0;

/** A distribution of times that are all this many times as long. */
function scale(times: Distribution, factor: number): Distribution {
  const { min, max, sum, mean, standardDeviation, p50, p90, p95, p99, sketch } = times;
  const moments = { min, max, sum, mean, standardDeviation, p50, p90, p95, p99 };
  const scaled = Object.fromEntries(Object.entries(moments).map(([name, value]) => [name, value * factor]));
  return { ...times, ...scaled, sketch: encodeSketch(scaleSketch(decodeSketch(sketch), factor)) };
}
