import { z } from "zod";
import type { HealthReport } from "../../../protocol/fleet/health.ts";
import { robustTrend } from "../../../stats/change/robust-trend.ts";

/** Resident memory at one time, of the runner with all its processes and of each device's own. */
export const MemorySample = z.object({
  /** Since the runner's process began. */
  ageMs: z.number(),
  bytes: z.number().nullable(),
  devices: z.array(z.object({ deviceKey: z.string(), bytes: z.number(), restarts: z.number() })),
});
export type MemorySample = z.infer<typeof MemorySample>;

/** Samples lie so far apart, and so many are kept: two hours. */
const SAMPLE_EVERY_MS = 60_000;
const KEPT_SAMPLES = 120;
/** Models are loaded, caches filled and pools grown: the first minutes say nothing. */
const START_UP_MS = 600_000;
/** A trend takes this long to be told. */
const SHORTEST_TREND_MS = 2_400_000;

/** The samples with what a report adds, those of an earlier process left out. */
export function addMemorySample(samples: readonly MemorySample[], report: HealthReport): readonly MemorySample[] {
  const ageMs = Date.parse(report.at) - Date.parse(report.startedAt);
  const last = samples.at(-1);
  const kept = last === undefined || ageMs < last.ageMs ? [] : samples;
  const lastMs = kept.at(-1)?.ageMs;
  if (ageMs < START_UP_MS || (lastMs !== undefined && ageMs - lastMs < SAMPLE_EVERY_MS)) return kept;
  const devices = report.devices.flatMap(({ deviceKey, processRssBytes: bytes, restarts }) =>
    bytes === null ? [] : [{ deviceKey, bytes, restarts }],
  );
  return [...kept.slice(1 - KEPT_SAMPLES), { ageMs, bytes: report.host.ownRssBytes, devices }];
}

/** How memory moved over the samples. */
export interface MemoryTrend {
  readonly bytesPerHour: number;
  /** By the trend, over all samples. */
  readonly grownBytes: number;
  readonly latestBytes: number;
  /** That it rises by chance. */
  readonly p: number;
  /** Whether it still rose at a third of the pace in the last third: what only fills a cache levels off. */
  readonly isSteady: boolean;
}

interface Point {
  readonly ageMs: number;
  readonly bytes: number;
}

/** Of the samples that were looked at last: each report is judged several times, and a trend is work. */
const trends = new WeakMap<readonly MemorySample[], Map<string | null, MemoryTrend | null>>();

/** The trend of the runner, or of one device's process since it last began; null before it can be told. */
export function memoryTrend(samples: readonly MemorySample[], deviceKey: string | null): MemoryTrend | null {
  const known = trends.get(samples) ?? new Map<string | null, MemoryTrend | null>();
  trends.set(samples, known);
  const trend = known.get(deviceKey);
  if (trend !== undefined) return trend;
  const found = findTrend(samples, deviceKey);
  known.set(deviceKey, found);
  return found;
}

function findTrend(samples: readonly MemorySample[], deviceKey: string | null): MemoryTrend | null {
  const points = deviceKey === null ? ofRunner(samples) : ofDevice(samples, deviceKey);
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || last.ageMs - first.ageMs < SHORTEST_TREND_MS) return null;
  const trend = trendOf(points);
  if (trend === null) return null;
  const lateTrend = trendOf(points.slice(-Math.max(8, Math.ceil(points.length / 3))));
  return {
    bytesPerHour: trend.slope * 3_600_000,
    grownBytes: trend.slope * (last.ageMs - first.ageMs),
    latestBytes: last.bytes,
    p: trend.p,
    isSteady: lateTrend !== null && lateTrend.slope > trend.slope / 3,
  };
}

function trendOf(points: readonly Point[]) {
  return robustTrend(
    points.map(({ ageMs }) => ageMs),
    points.map(({ bytes }) => bytes),
  );
}

function ofRunner(samples: readonly MemorySample[]): Point[] {
  return samples.flatMap(({ ageMs, bytes }) => (bytes === null ? [] : [{ ageMs, bytes }]));
}

/** A process that was started anew begins from nothing, and loads its models once more. */
function ofDevice(samples: readonly MemorySample[], deviceKey: string): Point[] {
  const own = samples.flatMap(({ ageMs, devices }) =>
    devices
      .filter((device) => device.deviceKey === deviceKey)
      .map(({ bytes, restarts }) => ({ ageMs, bytes, restarts })),
  );
  const life = own.filter(({ restarts }) => restarts === own.at(-1)?.restarts);
  const beganMs = life.length === own.length ? 0 : (life[0]?.ageMs ?? 0);
  return life.filter(({ ageMs }) => ageMs >= beganMs + (beganMs === 0 ? 0 : START_UP_MS));
}
