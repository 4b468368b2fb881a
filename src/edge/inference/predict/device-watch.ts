import type { LivePlacement } from "../../store/fleet/live-placement-store.ts";
import { sizeKeyOf } from "./fit-request.ts";

/** A request that this isolate has sent and that is not answered yet. */
export interface Sent {
  readonly placement: LivePlacement;
  readonly rows: number;
  readonly sentAtMs: number;
  /** Time from which on the answer is no longer wanted. */
  readonly deadlineAtMs: number;
}

/** State of one device as this isolate knows it: its queue, and whether it answers. Times are the edge's clock. */
export interface DeviceWatch {
  /** In the order of sending. */
  readonly inFlight: Set<Sent>;
  /** Queue of the device, as the runner last reported it. */
  backlogMs: number;
  backlogAtMs: number;
  /** Time of the first request since the last answer; null where none is unanswered. */
  unansweredSinceMs: number | null;
  /** Part of the time since then in which the edge itself paused, and could have read nothing. */
  pausedMs: number;
  /** Time at which a request last ended without an answer; null after the next answer. */
  missedAtMs: number | null;
  probedAtMs: number;
}

/** Deadline of a probe. A device that has sent nothing for as long has stopped answering. */
export const PROBE_MS = 1_000;
/** A device is silent when it has sent nothing for this long after a request and let the request expire. */
const SILENT_AFTER_MS = 200;
/** A timer that fires this late shows a pause. Less is usual under load, and would hide the silence of a dead device. */
const LEAST_PAUSE_MS = 50;
/** Silence lapses this long after the last miss; probes renew it. */
const SILENCE_LAPSES_MS = 10_000;

export function watchDevice(): DeviceWatch {
  return {
    inFlight: new Set(),
    backlogMs: 0,
    backlogAtMs: Number.NEGATIVE_INFINITY,
    unansweredSinceMs: null,
    pausedMs: 0,
    missedAtMs: null,
    probedAtMs: Number.NEGATIVE_INFINITY,
  };
}

export function noteSent(device: DeviceWatch, sent: Sent): void {
  device.inFlight.add(sent);
  device.unansweredSinceMs ??= sent.sentAtMs;
}

/** Notes that the device sent something: an answer or a refusal. */
export function noteHeard(device: DeviceWatch): void {
  device.unansweredSinceMs = null;
  device.pausedMs = 0;
  device.missedAtMs = null;
}

/**
 * Notes a request that ended without an answer. A message since it was sent proves that the device is alive.
 * An end that comes long after its deadline shows that the edge itself paused from then on: an answer may lie unread.
 */
export function noteMissed(device: DeviceWatch, { sentAtMs, deadlineAtMs }: Sent, nowMs: number): void {
  if (device.unansweredSinceMs === null || device.unansweredSinceMs > sentAtMs) return;
  // Requests that one pause held up end one after the other: each counts only what those before did not.
  const pausedSinceMs = Math.max(deadlineAtMs, device.missedAtMs ?? deadlineAtMs);
  if (nowMs - deadlineAtMs >= LEAST_PAUSE_MS) device.pausedMs += Math.max(0, nowMs - pausedSinceMs);
  device.missedAtMs = nowMs;
}

/** Forgets a request that shows nothing: silence counts from the next one that is still unanswered. */
export function forget(device: DeviceWatch, sent: Sent): void {
  device.inFlight.delete(sent);
  if (device.unansweredSinceMs !== sent.sentAtMs) return;
  const next = [...device.inFlight].find(({ sentAtMs }) => sentAtMs >= sent.sentAtMs);
  device.unansweredSinceMs = next?.sentAtMs ?? null;
}

/** Notes that the runner is gone, so that no request waits to find out. */
export function noteGone(device: DeviceWatch, nowMs: number): void {
  device.unansweredSinceMs = Number.NEGATIVE_INFINITY;
  device.missedAtMs = nowMs;
}

/** Notes the device's queue, as its runner reported it at `atMs`. */
export function noteBacklog(device: DeviceWatch, backlogMs: number, atMs: number): void {
  device.backlogMs = backlogMs;
  device.backlogAtMs = atMs;
}

/** Time for which a device has been silent: 0 where it is not, infinite once it has stopped answering. */
export function silenceMs({ unansweredSinceMs, pausedMs, missedAtMs }: DeviceWatch, nowMs: number): number {
  if (missedAtMs === null || unansweredSinceMs === null || nowMs - missedAtMs >= SILENCE_LAPSES_MS) return 0;
  const silentMs = nowMs - unansweredSinceMs - pausedMs;
  if (silentMs < SILENT_AFTER_MS) return 0;
  return silentMs < PROBE_MS ? silentMs : Infinity;
}

/** Claims the turn to probe a device; false where another probe went out within `everyMs`. The clock may jump back. */
export function takeProbe(device: DeviceWatch, everyMs: number, nowMs: number): boolean {
  if (Math.abs(nowMs - device.probedAtMs) < everyMs) return false;
  device.probedAtMs = nowMs;
  return true;
}

/** Whether the device has sent something since its last probe. */
export function wasHeardSinceProbe({ unansweredSinceMs, probedAtMs }: DeviceWatch): boolean {
  return unansweredSinceMs === null || probedAtMs < unansweredSinceMs;
}

/**
 * Expected wait of a request that is sent now: the runner's reported queue less the time since, and the requests that
 * this isolate sent later. `workMs` gives the time of the device for so many rows.
 * It assumes the order of arrival, although the runner serves the earliest deadline first. No order has a smaller
 * greatest lateness than that one, so later requests make no earlier one late.
 * Source: Jackson's rule, 1955.
 */
export function predictQueueMs(
  { inFlight, backlogMs, backlogAtMs }: DeviceWatch,
  nowMs: number,
  workMs: (placement: LivePlacement, rows: number) => number,
): number {
  // Hundreds of requests name few placements, whose keys are texts: each is made once.
  const rowsOf = new Map<LivePlacement, number>();
  for (const sent of inFlight) {
    const { placement, rows, sentAtMs, deadlineAtMs } = sent;
    // The Worker that should end it was cut off: nothing else would remove it.
    if (deadlineAtMs < nowMs) inFlight.delete(sent);
    if (deadlineAtMs < nowMs || sentAtMs < backlogAtMs) continue;
    rowsOf.set(placement, (rowsOf.get(placement) ?? 0) + rows);
  }
  const rowsBy = new Map<string, { placement: LivePlacement; rows: number }>();
  for (const [placement, rows] of rowsOf) {
    const key = sizeKeyOf(placement);
    const known = rowsBy.get(key);
    if (known === undefined) rowsBy.set(key, { placement, rows });
    else known.rows += rows;
  }
  // A clock that jumped back must not raise the reported queue.
  const sinceMs = Math.max(0, nowMs - backlogAtMs);
  let queueMs = Math.max(0, backlogMs - sinceMs);
  for (const { placement, rows } of rowsBy.values()) queueMs += workMs(placement, rows);
  return queueMs;
}
