/** Probes of one placement in a report: enough for a median that one hiccup does not move. */
const PROBES_PER_REPORT = 5;

/** What is probed in turn. */
export interface Probed {
  readonly deviceKey: string;
  /** When it was probed last, on the monotonic clock; -∞ before the first time. */
  readonly probedAtMs: number;
}

/** From one probe of this runner to the next, where so many placements share the interval of a report. */
export function probeStepMs(intervalMs: number, placements: number): number {
  return intervalMs / (PROBES_PER_REPORT * Math.max(1, placements));
}

/**
 * What is to be probed now: of those whose turn it is and whose device has time for it, the one that was probed
 * longest ago; undefined where there is none. Asked every step, it comes round to each as often as a report wants.
 */
export function chooseProbe<Target extends Probed>(
  targets: readonly Target[],
  intervalMs: number,
  nowMs: number,
  hasTime: (deviceKey: string) => boolean,
): Target | undefined {
  // Timers are early and late by a little.
  const dueMs = nowMs - intervalMs / PROBES_PER_REPORT + probeStepMs(intervalMs, targets.length) / 2;
  let chosen: Target | undefined;
  for (const target of targets) {
    if (target.probedAtMs > dueMs || target.probedAtMs >= (chosen?.probedAtMs ?? Infinity)) continue;
    if (hasTime(target.deviceKey)) chosen = target;
  }
  return chosen;
}
