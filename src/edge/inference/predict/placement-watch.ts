import type { ServiceTimes } from "../../../protocol/inference/inference.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import type { Sketch } from "../../../stats/distribution/sketch.ts";
import type { ProblemCode } from "../../../protocol/wire/problem.ts";
import type { LivePlacement } from "../../store/fleet/live-placement-store.ts";
import { calibratedLink, calibratedQuantile, calibratedSketch, largestRows } from "./calibrated-service.ts";
import {
  type DeviceWatch,
  isSilent,
  noteBacklog,
  noteGone,
  noteHeard,
  noteMissed,
  noteSent,
  predictQueueMs,
  type Sent,
  takeProbe,
  watchDevice,
} from "./device-watch.ts";
import {
  createTimes,
  createWindow,
  fadeTimes,
  noteSample,
  noteTime,
  type RecentTimes,
  type SlidingWindow,
  timeQuantile,
  windowQuantile,
} from "./sliding-window.ts";

/** Cold starts are rare: what they add is remembered for long. */
const COLD_HALF_LIFE_MS = 600_000;
/** A runner that was asked nothing for so long is cold: its link object has left memory by then. */
const COLD_AFTER_MS = 10_000;
/** What each answer to a probe takes from what was seen before it: a hundred of them leave little of a slow time. */
const FADED_SHARE = 0.05;
/** Powers of two that the rows of a request may have. */
const SIZES = Math.log2(LIMITS.tensorElements) + 1;
/** Keys of a map; the oldest goes for a new one, so that placements that are gone do not stay for ever. */
const KEPT = 4_096;

/** Problems of a runner behind which a model has to be loaded again. */
const UNLOADED = new Set<ProblemCode>(["no-placement", "device-lost"]);

/** What a request that is sent to a placement now is expected to take, in milliseconds. */
export interface Outlook {
  /** There and back and through the edge, at the confidence that was asked for. */
  readonly linkMs: number;
  /** The service alone, at the same confidence. */
  readonly serviceMs: number;
  /** The median of the service. */
  readonly medianServiceMs: number;
  /** What has to be done before: what waits and runs on the device, and the rest of loading the model. */
  readonly queueMs: number;
  /** What the first request after a rest takes more; 0 where the runner is not resting. */
  readonly coldMs: number;
  /** Whether the device has stopped answering. */
  readonly isSilent: boolean;
}

/** A request on its way, with what was expected of it. */
export interface Attempt extends Sent {
  readonly outlook: Outlook;
  readonly isCold: boolean;
  /** Whether it is the edge's own. */
  readonly isProbe: boolean;
}

/** What the runner said of a request that it answered. */
export interface Answered {
  readonly times: ServiceTimes;
  readonly rows: number;
  readonly backlogMs: number;
  /** Whether its time is the placement's, and not that of another backend which stood in. */
  readonly isMeasured: boolean;
}

/** Why there is no answer, and whether the runner itself said so. */
interface Refusal {
  readonly code: ProblemCode;
  readonly heard: boolean;
  /** When there may be room again, where that was said. */
  readonly retryAfterMs?: number | undefined;
}

/**
 * What this isolate saw of placements, runners and devices lately. Held in memory alone: an isolate that
 * knows nothing yet goes by the calibration.
 */
export class PlacementWatch {
  /** By placement and power of two of the rows. */
  readonly #services = new Map<string, RecentTimes>();
  /** By runner: what lies around queue and service. */
  readonly #links = new Map<string, RecentTimes>();
  readonly #colds = new Map<string, SlidingWindow>();
  readonly #devices = new Map<string, DeviceWatch>();
  /** By runner and by placement. */
  readonly #heardAtMs = new Map<string, number>();
  /** By placement: when the runner said that it had lost the model. */
  readonly #unloadedAtMs = new Map<string, number>();

  /** Nothing is kept of a placement for having been looked at: many more are than are sent anything. */
  outlook(placement: LivePlacement, rows: number, confidence: number, nowMs: number): Outlook {
    const device = this.#devices.get(deviceOf(placement));
    const workMs = (each: LivePlacement, queued: number) => this.#workMs(each, queued, nowMs);
    const queueMs = device === undefined ? 0 : predictQueueMs(device, nowMs, workMs);
    const services = this.#services.get(keyOf(placement, rows));
    const calibrated = calibratedSketch(placement.sweep, rows);
    return {
      linkMs: this.#linkMs(placement, confidence, nowMs),
      serviceMs: quantileOf(services, calibrated, confidence, nowMs),
      medianServiceMs: quantileOf(services, calibrated, 0.5, nowMs),
      queueMs: queueMs + this.#loadingMs(placement, nowMs),
      coldMs: this.#isCold(placement, nowMs) ? this.#coldMs(placement, confidence, nowMs) : 0,
      isSilent: device !== undefined && isSilent(device, nowMs),
    };
  }

  /**
   * A request goes out that is waited for `leftMs`; one of the four that follow ends it, or, where the Worker that
   * sent it is cut off, the time.
   */
  begin(
    placement: LivePlacement,
    rows: number,
    outlook: Outlook,
    leftMs: number,
    nowMs: number,
    isProbe = false,
  ): Attempt {
    const isCold = this.#isCold(placement, nowMs);
    const attempt = { placement, rows, outlook, sentAtMs: nowMs, deadlineAtMs: nowMs + leftMs, isCold, isProbe };
    noteSent(this.#device(placement), attempt);
    return attempt;
  }

  /** An answer came: everything there is to learn from. */
  answered(attempt: Attempt, { times, rows, backlogMs, isMeasured }: Answered, nowMs: number): void {
    const { placement, outlook } = attempt;
    const serviceMs = times.uploadMs + times.computeMs + times.readbackMs;
    // What the queue took beyond what was expected counts with the link, so that it is expected next time.
    const aroundMs = nowMs - attempt.sentAtMs - serviceMs - Math.min(times.queueMs, outlook.queueMs);
    this.#heard(attempt, nowMs);
    this.#unloadedAtMs.delete(placement.id);
    remember(this.#heardAtMs, placement.id, nowMs);
    noteBacklog(this.#device(placement), backlogMs, nowMs - Math.max(0, aroundMs) / 2);
    if (attempt.isCold) {
      const coldMs = aroundMs + serviceMs - this.#linkMs(placement, 0.5, nowMs) - outlook.medianServiceMs;
      noteSample(recall(this.#colds, placement.runnerId, createColdWindow), coldMs, nowMs);
      return;
    }
    if (attempt.isProbe) this.#fade(placement);
    noteTime(recall(this.#links, placement.runnerId, createTimes), aroundMs, nowMs);
    if (isMeasured) noteTime(recall(this.#services, keyOf(placement, rows), createTimes), serviceMs, nowMs);
  }

  /**
   * The runner, or the link in its stead, said that it cannot. Where it was for want of time, at least as much waited
   * there when it was sent as would have been in the way, but no more than it said itself; where it has lost the model,
   * that is loaded again.
   */
  refused(attempt: Attempt, { code, heard, retryAfterMs = Infinity }: Refusal, nowMs: number): void {
    const { placement, outlook, sentAtMs, deadlineAtMs } = attempt;
    const device = this.#device(placement);
    if (heard) this.#heard(attempt, nowMs);
    device.inFlight.delete(attempt);
    if (UNLOADED.has(code)) remember(this.#unloadedAtMs, placement.id, nowMs);
    if (code !== "overloaded" && code !== "budget-exceeded") return;
    const queueMs = predictQueueMs(device, nowMs, (each, rows) => this.#workMs(each, rows, nowMs));
    const backlogMs = Math.min(retryAfterMs, deadlineAtMs - sentAtMs - outlook.medianServiceMs);
    if (backlogMs - (nowMs - sentAtMs) > queueMs) noteBacklog(device, backlogMs, sentAtMs);
  }

  /** The budget ended first. The time that was waited is the least that it would have taken: news if it is more than was expected. */
  missed(attempt: Attempt, nowMs: number): void {
    const { placement, outlook, sentAtMs, isCold } = attempt;
    const device = this.#device(placement);
    device.inFlight.delete(attempt);
    noteMissed(device, attempt, nowMs);
    // Of a device that says nothing at all nothing is learned but that.
    if (isCold || device.missedAtMs === nowMs) return;
    const aroundMs = nowMs - sentAtMs - outlook.medianServiceMs - outlook.queueMs;
    if (aroundMs > outlook.linkMs) noteTime(recall(this.#links, placement.runnerId, createTimes), aroundMs, nowMs);
  }

  /** The runner, or the way to it, is gone. */
  lost(attempt: Attempt, nowMs: number): void {
    const device = this.#device(attempt.placement);
    device.inFlight.delete(attempt);
    noteGone(device, nowMs);
  }

  /** Whether it is time to ask the placement something of our own; true once in `everyMs`. */
  takeProbe(placement: LivePlacement, everyMs: number, nowMs: number): boolean {
    return takeProbe(this.#device(placement), everyMs, nowMs);
  }

  /** A probe stands for many who were refused: what was before it matters less than if they had been served. */
  #fade(placement: LivePlacement): void {
    const sizes = Array.from({ length: SIZES }, (_, power) => this.#services.get(keyOf(placement, 2 ** power)));
    for (const times of [this.#links.get(placement.runnerId), ...sizes])
      if (times !== undefined) fadeTimes(times, FADED_SHARE);
  }

  #heard(attempt: Attempt, nowMs: number): void {
    const device = this.#device(attempt.placement);
    device.inFlight.delete(attempt);
    noteHeard(device);
    remember(this.#heardAtMs, attempt.placement.runnerId, nowMs);
  }

  #device(placement: LivePlacement): DeviceWatch {
    return recall(this.#devices, deviceOf(placement), watchDevice);
  }

  #isCold({ runnerId }: LivePlacement, nowMs: number): boolean {
    return nowMs - (this.#heardAtMs.get(runnerId) ?? Number.NEGATIVE_INFINITY) > COLD_AFTER_MS;
  }

  #coldMs({ runnerId }: LivePlacement, confidence: number, nowMs: number): number {
    const window = this.#colds.get(runnerId);
    return window === undefined ? 0 : windowQuantile(window, null, confidence, nowMs);
  }

  #linkMs({ runnerId, linkMs }: LivePlacement, confidence: number, nowMs: number): number {
    return quantileOf(this.#links.get(runnerId), calibratedLink(linkMs), confidence, nowMs);
  }

  #medianServiceMs(placement: LivePlacement, rows: number, nowMs: number): number {
    const times = this.#services.get(keyOf(placement, rows));
    return quantileOf(times, calibratedSketch(placement.sweep, rows), 0.5, nowMs);
  }

  /** Rows of requests that wait are computed in batches, as large as were measured and may be formed. */
  #workMs(placement: LivePlacement, rows: number, nowMs: number): number {
    const largest = largestRows(placement);
    const whole = Math.floor(rows / largest);
    const rest = rows % largest;
    const wholeMs = whole === 0 ? 0 : whole * this.#medianServiceMs(placement, largest, nowMs);
    return wholeMs + (rest === 0 ? 0 : this.#medianServiceMs(placement, rest, nowMs));
  }

  /** What is left of loading the model: after its runner has connected, and after it has lost the model. */
  #loadingMs({ id, loadMs, connectedAtMs, warmAtMs }: LivePlacement, nowMs: number): number {
    const unloadedAtMs = this.#unloadedAtMs.get(id);
    if (unloadedAtMs !== undefined) return Math.max(0, loadMs - Math.max(0, nowMs - unloadedAtMs));
    const wasHeard = (this.#heardAtMs.get(id) ?? Number.NEGATIVE_INFINITY) >= connectedAtMs;
    return wasHeard ? 0 : Math.max(0, warmAtMs - nowMs);
  }
}

/** The one of this isolate. */
export const placementWatch = new PlacementWatch();

function keyOf({ id }: LivePlacement, rows: number): string {
  return `${id}/${Math.floor(Math.log2(rows))}`;
}

function deviceOf({ runnerId, deviceKey }: LivePlacement): string {
  return `${runnerId}/${deviceKey}`;
}

/** Of what was never seen, the calibration tells. */
function quantileOf(times: RecentTimes | undefined, prior: Sketch, confidence: number, nowMs: number): number {
  return times === undefined ? calibratedQuantile(prior, confidence) : timeQuantile(times, prior, confidence, nowMs);
}

function createColdWindow(): SlidingWindow {
  return createWindow(COLD_HALF_LIFE_MS);
}

/** What is known under a key; made where nothing is. */
function recall<Value>(map: Map<string, Value>, key: string, create: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const value = create();
  remember(map, key, value);
  return value;
}

function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  if (map.size >= KEPT && !map.has(key)) map.delete(map.keys().next().value!);
  map.set(key, value);
}
