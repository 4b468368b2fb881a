import { ADVICE } from "./advice.ts";
import { memoryTrend } from "./memory-sample.ts";
import { type Evidence, OF_NO_PLACEMENT, type WatchContext, type WatchLevel, type WatchRule } from "./watch-rule.ts";

const MiB = 2 ** 20;
/** Growth over the samples, in bytes and of what is held: less is a cache at work. */
export const GROWN_BYTES = 64 * MiB;
export const GROWN_SHARE = 0.15;
/** Of a rise by chance. Samples a minute apart are not independent: hence so little. */
const CHANCE = { open: 1e-4, hold: 1e-2 } as const;

/** Memory of the runner, or of one device's process, that grows and goes on growing. */
export const judgeGrowth: WatchRule = (report, context, level) => {
  const devices = report.devices.flatMap(({ deviceKey }) => judgeTrend(deviceKey, context, level) ?? []);
  if (devices.length > 0) return devices;
  return [judgeTrend(null, context, level) ?? []].flat();
};

function judgeTrend(deviceKey: string | null, { memory }: WatchContext, level: WatchLevel): Evidence | null {
  const trend = memoryTrend(memory, deviceKey);
  if (trend === null || !trend.isSteady || trend.p > CHANCE[level]) return null;
  const { grownBytes, latestBytes, bytesPerHour } = trend;
  if (grownBytes < GROWN_BYTES || grownBytes < GROWN_SHARE * latestBytes) return null;
  const what = deviceKey === null ? "The runner with its processes" : `The process of ${deviceKey}`;
  return {
    key: `memory-growth ${deviceKey ?? "runner"}`,
    kind: "memory-growth",
    deviceKey,
    ...OF_NO_PLACEMENT,
    measured: Math.round(bytesPerHour),
    expected: 0,
    unit: "bytes per hour",
    detail: `${what} grew by ${Math.round(grownBytes / MiB)} MiB to ${Math.round(latestBytes / MiB)} MiB, by ${Math.round(bytesPerHour / MiB)} MiB an hour, and goes on.`,
    advice: ADVICE.memory,
  };
}
