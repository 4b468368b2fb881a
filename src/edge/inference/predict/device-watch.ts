import type { LivePlacement } from "../../store/fleet/live-placement-store.ts";

/** A request that this isolate has sent and got no answer to. */
export interface Sent {
  readonly placement: LivePlacement;
  readonly rows: number;
  readonly sentAtMs: number;
  /** Nobody waits for it any longer from then on. */
  readonly deadlineAtMs: number;
}

/** What this isolate knows of one device: what waits there, and whether it answers. Times are the edge's clock. */
export interface DeviceWatch {
  /** In the order in which they were sent. */
  readonly inFlight: Set<Sent>;
  /** What the runner said of its queue, as of then. */
  backlogMs: number;
  backlogAtMs: number;
  /** When the first request was sent that nothing has been heard since; null where all is heard. */
  unansweredSinceMs: number | null;
  /** When a request last ended without an answer; null once something is heard. */
  missedAtMs: number | null;
  probedAtMs: number;
}

/** A device that says nothing for so long after a request went to it, and let it end, is silent. */
const SILENT_AFTER_MS = 200;
/** Silence is believed for so long after the last miss; probes renew it. */
const SILENCE_LAPSES_MS = 10_000;

export function watchDevice(): DeviceWatch {
  return {
    inFlight: new Set(),
    backlogMs: 0,
    backlogAtMs: Number.NEGATIVE_INFINITY,
    unansweredSinceMs: null,
    missedAtMs: null,
    probedAtMs: Number.NEGATIVE_INFINITY,
  };
}

export function noteSent(device: DeviceWatch, sent: Sent): void {
  device.inFlight.add(sent);
  device.unansweredSinceMs ??= sent.sentAtMs;
}

/** Something came from the device, be it an answer or a refusal. */
export function noteHeard(device: DeviceWatch): void {
  device.unansweredSinceMs = null;
  device.missedAtMs = null;
}

/** A request ended without an answer. What was heard since it was sent speaks for the device. */
export function noteMissed(device: DeviceWatch, { sentAtMs }: Sent, nowMs: number): void {
  if (device.unansweredSinceMs !== null && device.unansweredSinceMs <= sentAtMs) device.missedAtMs = nowMs;
}

/** The runner is known to be gone: nobody need wait to find out. */
export function noteGone(device: DeviceWatch, nowMs: number): void {
  device.unansweredSinceMs = nowMs - SILENT_AFTER_MS;
  device.missedAtMs = nowMs;
}

/** What waits and runs on the device, as its runner said at `atMs`. */
export function noteBacklog(device: DeviceWatch, backlogMs: number, atMs: number): void {
  device.backlogMs = backlogMs;
  device.backlogAtMs = atMs;
}

/** Whether requests are better sent elsewhere, until the device is heard again. */
export function isSilent({ unansweredSinceMs, missedAtMs }: DeviceWatch, nowMs: number): boolean {
  if (missedAtMs === null || unansweredSinceMs === null) return false;
  return nowMs - unansweredSinceMs >= SILENT_AFTER_MS && nowMs - missedAtMs < SILENCE_LAPSES_MS;
}

/** Takes the turn to probe a device; false while another probe was sent within `everyMs`, by a clock that may jump back. */
export function takeProbe(device: DeviceWatch, everyMs: number, nowMs: number): boolean {
  if (Math.abs(nowMs - device.probedAtMs) < everyMs) return false;
  device.probedAtMs = nowMs;
  return true;
}

/**
 * How long a request waits that is sent now: the runner's own word less the time since, and what this
 * isolate has sent after it. `workMs` tells how long a device takes for so many rows. The order is that of
 * arrival, though the runner serves the earliest deadline first: no order has a smaller greatest lateness
 * than that (Jackson's rule, 1955), so whoever is admitted later makes nobody late.
 */
export function predictQueueMs(
  { inFlight, backlogMs, backlogAtMs }: DeviceWatch,
  nowMs: number,
  workMs: (placement: LivePlacement, rows: number) => number,
): number {
  const rowsBy = new Map<string, { placement: LivePlacement; rows: number }>();
  for (const sent of inFlight) {
    const { placement, rows, sentAtMs, deadlineAtMs } = sent;
    // Whoever was to end it was cut off: nothing else would ever take it out.
    if (deadlineAtMs < nowMs) inFlight.delete(sent);
    if (deadlineAtMs < nowMs || sentAtMs < backlogAtMs) continue;
    const known = rowsBy.get(placement.id);
    if (known === undefined) rowsBy.set(placement.id, { placement, rows });
    else known.rows += rows;
  }
  // A clock that jumped back must not make more of it than was said.
  const sinceMs = Math.max(0, nowMs - backlogAtMs);
  let queueMs = Math.max(0, backlogMs - sinceMs);
  for (const { placement, rows } of rowsBy.values()) queueMs += workMs(placement, rows);
  return queueMs;
}
