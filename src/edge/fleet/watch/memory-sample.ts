import { z } from "zod";
import type { HealthReport } from "../../../protocol/fleet/health.ts";
import { robustTrend } from "../../../stats/change/robust-trend.ts";

/** Resident memory at one time: of the runner with all its processes, and of each device's process. */
export const MemorySample = z.object({
  /** Age of the runner's process. */
  ageMs: z.number(),
  bytes: z.number().nullable(),
  devices: z.array(z.object({ deviceKey: z.string(), bytes: z.number(), restarts: z.number() })),
});
export type MemorySample = z.infer<typeof MemorySample>;

/** Interval of samples, and the number kept: two hours. */
const SAMPLE_EVERY_MS = 60_000;
const KEPT_SAMPLES = 120;
/** Start-up time to ignore: models load, caches fill and pools grow. */
const START_UP_MS = 600_000;
/** Shortest period that shows a trend. */
const SHORTEST_TREND_MS = 2_400_000;

/** Samples with the one of this report added, without those of an earlier process; the same array if none changed. */
export function addMemorySample(samples: readonly MemorySample[], report: HealthReport): readonly MemorySample[] {
  const ageMs = Date.parse(report.at) - Date.parse(report.startedAt);
  const last = samples.at(-1);
  const kept = last !== undefined && ageMs < last.ageMs ? [] : samples;
  const lastMs = kept.at(-1)?.ageMs;
  if (ageMs < START_UP_MS || (lastMs !== undefined && ageMs - lastMs < SAMPLE_EVERY_MS)) return kept;
  const devices = report.devices.flatMap(({ deviceKey, processRssBytes: bytes, restarts }) =>
    bytes === null ? [] : [{ deviceKey, bytes, restarts }],
  );
  return [...kept.slice(1 - KEPT_SAMPLES), { ageMs, bytes: report.host.ownRssBytes, devices }];
}

/** Trend of memory over the samples. */
export interface MemoryTrend {
  readonly bytesPerHour: number;
  /** Growth over all samples, by the trend. */
  readonly grownBytes: number;
  readonly latestBytes: number;
  /** Probability that the rise is due to chance. */
  readonly p: number;
  /** Whether the last third still rose at a third of the pace: a filling cache levels off. */
  readonly isSteady: boolean;
}

interface Point {
  readonly ageMs: number;
  readonly bytes: number;
}

/** Trends of the last samples seen: each report is judged several times, and a trend is costly. */
const trends = new WeakMap<readonly MemorySample[], Map<string | null, MemoryTrend | null>>();

/** Trend of the runner, or of one device's process since its last start; null with too few samples. */
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

/** Points since a device's process rested or came back, whose memory is in the sum. */
function ofRunner(samples: readonly MemorySample[]): Point[] {
  const namesOf = (sample: MemorySample | undefined) => sample?.devices.map(({ deviceKey }) => deviceKey).join();
  const now = namesOf(samples.at(-1));
  const changedAt = samples.findLastIndex((sample) => namesOf(sample) !== now);
  return samples.slice(changedAt + 1).flatMap(({ ageMs, bytes }) => (bytes === null ? [] : [{ ageMs, bytes }]));
}

/**
 * Points since the last start of a device's process: a new process loads its models again. One that rested is missing in
 * the samples between.
 */
function ofDevice(samples: readonly MemorySample[], deviceKey: string): Point[] {
  const restedAt = samples.findLastIndex(({ devices }) => devices.every((device) => device.deviceKey !== deviceKey));
  const own = samples
    .slice(restedAt + 1)
    .flatMap(({ ageMs, devices }) =>
      devices
        .filter((device) => device.deviceKey === deviceKey)
        .map(({ bytes, restarts }) => ({ ageMs, bytes, restarts })),
    );
  const life = own.filter(({ restarts }) => restarts === own.at(-1)?.restarts);
  const isWhole = restedAt < 0 && life.length === own.length;
  const beganMs = isWhole ? 0 : (life[0]?.ageMs ?? 0);
  return life.filter(({ ageMs }) => ageMs >= beganMs + (beganMs === 0 ? 0 : START_UP_MS));
}
