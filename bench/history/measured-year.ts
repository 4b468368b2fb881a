import { drawWord } from "../../kernels/seeded-words.ts";
import type { SeriesKey } from "../../src/protocol/history/series.ts";

export const POINTS = 1_000_000;
export const DEVICES = 20;
const SUBJECTS = 10;
const METRICS = 5;
export const SERIES = SUBJECTS * METRICS * DEVICES;
/** The busiest series, all devices of the two busiest metrics, are from live requests; the others come from runs. */
const LIVE_SERIES = 2 * DEVICES;

const DAY_MS = 86_400_000;
export const YEAR_MS = 365 * DAY_MS;
export const FROM_MS = Date.UTC(2025, 0, 1);
export const TO_MS = FROM_MS + YEAR_MS;

const SEED = 5;
/** Spread of the logarithm of samples within a point; one sample in a hundred is three times as long. */
const SPREAD = 0.15;
const SPIKE_SHARE = 0.01;
const SPIKE = 3;

/** A series in the form for every contender. */
export interface YearSeries {
  /** Rank from 1 on, the busiest first. */
  readonly no: number;
  readonly points: number;
  readonly key: SeriesKey;
  readonly device: string;
  readonly isLive: boolean;
}

/** A year of measurements, in the order in which they were made: point i of series `no[i]`, its samples from `i * samplesPerPoint` on. */
export interface MeasuredYear {
  readonly series: readonly YearSeries[];
  readonly samplesPerPoint: number;
  readonly no: Uint16Array;
  readonly atMs: Float64Array;
  readonly samples: Float64Array;
}

/**
 * Points of the series by Zipf's law with exponent 1: rank r has a share of 1/r, and the sum is exact. The busiest
 * has a point every four minutes, the last one every third day.
 */
export function sharePoints(series: number, points: number): number[] {
  let harmonic = 0;
  for (let rank = 1; rank <= series; rank++) harmonic += 1 / rank;
  let given = 0;
  let cumulated = 0;
  return Array.from({ length: series }, (_, index) => {
    cumulated += points / harmonic / (index + 1);
    const share = Math.round(cumulated) - given;
    given += share;
    return share;
  });
}

/** The keys: every metric of every subject on each of the devices, which are ranked next to each other. */
export function createSeries(points: number = POINTS): YearSeries[] {
  return sharePoints(SERIES, points).map((share, index) => {
    const [pair, device] = [Math.floor(index / DEVICES), `card-${String(index % DEVICES).padStart(2, "0")}`];
    const isLive = index < LIVE_SERIES;
    const subject = `${isLive ? "model" : "kernel"}-${pair % SUBJECTS}`;
    const key: SeriesKey = {
      subjectKind: isLive ? "model" : "kernel",
      subject,
      metric: `part${Math.floor(pair / SUBJECTS)}Ms`,
      unit: "ms",
      clock: "runner-wall",
      direction: "lower",
      configuration: { variant: "fp32", backend: "ort-cpu" },
      fingerprint: { adapter: device, driver: "1", dawn: "1", toggles: [], ort: "1", cpu: "bench" },
      software: false,
      label: null,
    };
    return { no: index + 1, points: share, key, device, isLive };
  });
}

/** Draws the year: the same for the same number of samples a point. */
export function createYear(samplesPerPoint: number, points: number = POINTS): MeasuredYear {
  const series = createSeries(points);
  const unordered = { no: new Uint16Array(points), atMs: new Float64Array(points) };
  const slot = drawUniform(0);
  let next = 0;
  for (const { no, points: share } of series) {
    for (let i = 0; i < share; i++, next++) {
      unordered.no[next] = no;
      unordered.atMs[next] = FROM_MS + Math.floor(((i + slot(next)) / share) * YEAR_MS);
    }
  }
  const order = Uint32Array.from(unordered.no.keys()).toSorted(
    (a, b) => unordered.atMs[a]! - unordered.atMs[b]! || a - b,
  );
  const no = Uint16Array.from(order, (index) => unordered.no[index]!);
  const atMs = Float64Array.from(order, (index) => unordered.atMs[index]!);
  return { series, samplesPerPoint, no, atMs, samples: drawSamples(samplesPerPoint, no, atMs) };
}

/** Log-normal around the level of the series, with spikes. */
function drawSamples(samplesPerPoint: number, no: Uint16Array, atMs: Float64Array): Float64Array {
  const [radius, angle, spike] = [drawUniform(1), drawUniform(2), drawUniform(3)];
  const samples = new Float64Array(no.length * samplesPerPoint);
  for (let i = 0; i < samples.length; i++) {
    const point = Math.floor(i / samplesPerPoint);
    // Box and Muller's transform.
    const normal = Math.sqrt(-2 * Math.log(radius(i))) * Math.cos(2 * Math.PI * angle(i));
    const factor = spike(i) < SPIKE_SHARE ? SPIKE : 1;
    samples[i] = levelAt(no[point]!, atMs[point]!) * Math.exp(SPREAD * normal) * factor;
  }
  return samples;
}

/** Milliseconds: 0.5 to 50 by subject and metric, up to twice as much by device, a tenth more by day; every tenth series is a tenth slower from July on. */
function levelAt(no: number, atMs: number): number {
  const pair = Math.floor((no - 1) / DEVICES);
  const base = 0.5 * 100 ** (((pair * 7) % 50) / 50) * 2 ** (((no * 13) % DEVICES) / DEVICES);
  const day = 1 + 0.1 * Math.sin((2 * Math.PI * atMs) / DAY_MS);
  const step = no % 10 === 0 && atMs >= FROM_MS + YEAR_MS / 2 ? 1.1 : 1;
  return base * day * step;
}

/** Uniform in (0, 1), so that its logarithm is finite. */
function drawUniform(stream: number): (index: number) => number {
  const draw = drawWord(SEED, stream);
  return (index) => (draw(index) + 0.5) / 2 ** 32;
}
