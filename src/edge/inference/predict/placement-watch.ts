import type { ServiceTimes } from "../../../protocol/inference/inference.ts";
import { addToSketch, createSketch, type Sketch } from "../../../stats/distribution/sketch.ts";
import type { ProblemCode } from "../../../protocol/wire/problem.ts";
import type { LivePlacement } from "../../store/fleet/live-placement-store.ts";
import { calibratedLink, calibratedQuantile, calibratedSketch, largestRows } from "./calibrated-service.ts";
import {
  type DeviceWatch,
  forget,
  noteBacklog,
  noteGone,
  noteHeard,
  noteMissed,
  noteSent,
  predictQueueMs,
  PROBE_MS,
  type Sent,
  silenceMs,
  takeProbe,
  wasHeardSinceProbe,
  watchDevice,
} from "./device-watch.ts";
import { sizeKeyOf } from "./fit-request.ts";
import { type IdleTimes, NamedBudgets, namedConfidence, type NamedTimes } from "./named-budgets.ts";
import {
  createTimes,
  createWindow,
  fadeTimes,
  fadeWindow,
  noteSample,
  noteTime,
  type RecentTimes,
  shownQuantile,
  type SlidingWindow,
  timeQuantile,
  windowQuantile,
} from "./sliding-window.ts";

/** Cold starts are rare, so their extra time is remembered for long. */
const COLD_HALF_LIFE_MS = 600_000;
/** A runner without a request for this long is cold: its link object has left memory by then. */
const COLD_AFTER_MS = 10_000;
/**
 * A runner's cold start that this isolate has not seen, for which a named budget has room. Its first request takes longer
 * than later ones: the code of the whole way is compiled, and the link's object is woken.
 * In eight fresh stacks on two cores, 2026-11-26: 8 to 19 ms more than the tenth.
 */
const UNSEEN_COLD_MS = 25;
/** Even chances. */
const EVEN = 0.5;
/** How wrong predictions of a queue are depends on the load of the moment. */
const EXCESS_HALF_LIFE_MS = 10_000;
/** A queue takes no longer than predicted where nothing else was seen. */
const NO_EXCESS = createSketch();
addToSketch(NO_EXCESS, 0);
/** Weight that each answer to a probe takes from earlier samples: a hundred of them leave little of a slow time. */
const FADED_SHARE = 0.05;
/** Time without any answer, not even to a probe, from which refusals make predictions return to the calibration. */
const UNANSWERED_MS = 2 * PROBE_MS;
/** Half-life of the samples then, and the longest time that one refusal stands for. */
const REFUSED_HALF_LIFE_MS = 250;
/** A refusal after less time changes too little to be noted. */
const LEAST_FADED_MS = 50;
/** Refusals by a prediction after which a probe is due. */
const REFUSALS_A_PROBE = 10;
/** Limit of a map's keys; a new one replaces the oldest, so that deleted placements do not stay for ever. */
const KEPT = 4_096;

/** Problems of a runner after which the model must be loaded again. */
const UNLOADED = new Set<ProblemCode>(["no-placement", "device-lost"]);

/** Expected times of a request that is sent to a placement now, in milliseconds. */
export interface Outlook {
  /** Round trip through the edge, at the requested confidence. */
  readonly linkMs: number;
  /** Service alone, at the same confidence. */
  readonly serviceMs: number;
  /** Link and service together for a request that no other is beside. */
  readonly aloneMs: number;
  /** Median of the service. */
  readonly medianServiceMs: number;
  /** Work before the request: the device's queue, and the rest of loading the model. */
  readonly queueMs: number;
  /** How much longer than that a queue takes at the same confidence; 0 without one. */
  readonly excessMs: number;
  /** Extra time of the first request after a rest; 0 where the runner is not resting. */
  readonly coldMs: number;
  /** Time for which the device has sent nothing, which the wait may well take; infinite where it stopped answering. */
  readonly silentMs: number;
}

/** A request on its way, with its expected times. */
export interface Attempt extends Sent {
  readonly outlook: Outlook;
  readonly isCold: boolean;
  /** Load of the device when it was sent. */
  readonly load: Load;
  /** Set for a request of the edge's own. */
  readonly isProbe: boolean;
}

/** The runner's report on a request that it answered. */
export interface Answered {
  readonly times: ServiceTimes;
  readonly rows: number;
  readonly backlogMs: number;
  /** Whether its time is the placement's, and not that of another backend which stood in. */
  readonly isMeasured: boolean;
}

/** Reason for a missing answer, and whether the runner itself reported it. */
interface Refusal {
  readonly code: ProblemCode;
  readonly heard: boolean;
  /** Reported time until there may be room again. */
  readonly retryAfterMs?: number | undefined;
}

/**
 * Recent observations of placements, runners and devices in this isolate. Held in memory only: a new isolate starts
 * from the calibration.
 */
export class PlacementWatch {
  /** By placement, size, and power of two of the rows. */
  readonly #services = new Map<string, RecentTimes>();
  /**
   * By the same, and by load: service and the time around it together. Requests wait for each other everywhere on the way,
   * so what a crowd of them took says little of one alone.
   */
  readonly #wholes = new Map<string, TimesByLoad>();
  /** By the same, of requests behind a queue: all that they took beyond what was predicted of the queue. */
  readonly #queued = new Map<string, TimesByLoad>();
  /** By project and runner, and by load of the device: the time around queue and service. */
  readonly #links = new Map<string, TimesByLoad>();
  readonly #colds = new Map<string, SlidingWindow>();
  /** By runner: the number of answers that taught this isolate the time around the service. */
  readonly #answers = new Map<string, number>();
  /** By project and device, as its runner shares it evenly: another project's flood must not look like a full queue. */
  readonly #devices = new Map<string, DeviceWatch>();
  /** By the same: waits in the queue beyond the predicted ones, also those for which requests were refused. */
  readonly #excesses = new Map<string, SlidingWindow>();
  /** By runner and by placement. */
  readonly #heardAtMs = new Map<string, number>();
  /** By placement: refusals since the last one that made a probe due. */
  readonly #refusals = new Map<string, number>();
  /** By placement: time at which the runner reported that it had lost the model. */
  readonly #unloadedAtMs = new Map<string, number>();
  /** By placement: time up to which its samples faded by refusals. */
  readonly #fadedAtMs = new Map<string, number>();
  readonly #named = new NamedBudgets();

  /**
   * The outlook for a request, `spentMs` after its arrival. Stores nothing for a placement: many more are examined than
   * get a request.
   */
  outlook(placement: LivePlacement, rows: number, confidence: number, nowMs: number, spentMs = 0): Outlook {
    const device = this.#devices.get(deviceOf(placement));
    const workMs = (each: LivePlacement, queued: number) => this.#workMs(each, queued, nowMs);
    const queueMs = device === undefined ? 0 : predictQueueMs(device, nowMs, workMs);
    const held = this.#named.find(placement, rows, confidence, nowMs);
    const load = device === undefined ? NO_LOAD : loadOf(device);
    const idle = this.#idle(placement, rows, confidence, nowMs, load);
    const evenMs = () => this.#idle(placement, rows, EVEN, nowMs, load).idleMs;
    const heldMs = held === null ? Infinity : restOf(held, spentMs, evenMs);
    const idleMs = Math.min(idle.idleMs, heldMs);
    const alone = load === NO_LOAD ? idle : this.#idle(placement, rows, confidence, nowMs);
    const serviceMs = Math.min(idle.serviceMs, held?.serviceMs ?? Infinity, idleMs);
    // The quantile of what a queue and the rest exceed together is less than the sum of their quantiles.
    const queued = queueMs > 0 ? this.#queued.get(keyOf(placement, rows))?.[load] : undefined;
    const togetherMs = queued === undefined ? Infinity : shownQuantile(queued, confidence, nowMs);
    const excessMs = queueMs > 0 ? Math.min(this.#excessMs(placement, confidence, nowMs), togetherMs - idleMs) : 0;
    return {
      linkMs: idleMs - serviceMs,
      serviceMs,
      aloneMs: Math.min(alone.idleMs, heldMs),
      medianServiceMs: this.#medianServiceMs(placement, rows, nowMs),
      queueMs: queueMs + this.#loadingMs(placement, nowMs),
      excessMs: Math.max(0, excessMs),
      coldMs: this.#isCold(placement, nowMs) ? (this.#coldMs(placement, confidence, nowMs) ?? 0) : 0,
      silentMs: device === undefined ? 0 : silenceMs(device, nowMs),
    };
  }

  /** Notes the time between a request's arrival and its admission. */
  noteSpent(spentMs: number, nowMs: number): void {
    this.#named.noteSpent(spentMs, nowMs);
  }

  /** The same time as is not exceeded with this confidence. */
  spentMs(confidence: number, nowMs: number): number {
    return this.#named.spentMs(confidence, nowMs);
  }

  /** Times that a named budget must have room for; all but a cold start hold for requests that are sent again. */
  nameTimes(
    placement: LivePlacement,
    rows: number,
    confidence: number,
    nowMs: number,
  ): NamedTimes & Pick<Outlook, "coldMs"> {
    const least = this.#idle(placement, rows, confidence, nowMs);
    const strict = this.#idle(placement, rows, namedConfidence(confidence), nowMs);
    const serviceMs = Math.max(least.serviceMs, strict.serviceMs);
    const idleMs = Math.max(serviceMs, least.idleMs, strict.idleMs);
    const named = { beforeMs: this.spentMs(namedConfidence(confidence), nowMs), serviceMs, idleMs };
    this.#named.hold(placement, { rows, confidence, ...named }, nowMs);
    return { ...named, coldMs: this.#namedColdMs(placement, confidence, nowMs) };
  }

  /**
   * Notes a request that waits for `leftMs`. One of the next five methods ends it; if its Worker is cut off, time does.
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
    const device = this.#device(placement);
    const sent = { placement, rows, outlook, sentAtMs: nowMs, deadlineAtMs: nowMs + leftMs };
    const attempt = { ...sent, isCold, isProbe, load: loadOf(device) };
    noteSent(device, attempt);
    return attempt;
  }

  /** Notes an answer with all its times. */
  answered(attempt: Attempt, { times, rows, backlogMs, isMeasured }: Answered, nowMs: number): void {
    const { placement, outlook } = attempt;
    const serviceMs = times.uploadMs + times.computeMs + times.readbackMs;
    this.#noteExcess(attempt, times.queueMs, nowMs);
    const aroundMs = Math.max(0, nowMs - attempt.sentAtMs - serviceMs - times.queueMs);
    this.#heard(attempt, nowMs);
    if (!attempt.isProbe) this.#named.noteAnswered(placement);
    this.#unloadedAtMs.delete(placement.id);
    remember(this.#heardAtMs, placement.id, nowMs);
    // An answer that ends a silence was sent just now; its wait shows nothing of the link.
    const wasSilent = outlook.silentMs > 0;
    noteBacklog(this.#device(placement), backlogMs, wasSilent ? nowMs : nowMs - aroundMs / 2);
    if (wasSilent) return;
    if (attempt.isCold) {
      const linkMs = this.#linkMs(placement, EVEN, nowMs, attempt.load);
      const coldMs = aroundMs + serviceMs - linkMs - outlook.medianServiceMs;
      noteSample(recall(this.#colds, placement.runnerId, createColdWindow), coldMs, nowMs);
      return;
    }
    // A probe represents many refused requests: earlier samples fade as if those had been served.
    if (attempt.isProbe) {
      this.#fade(placement, FADED_SHARE, attempt.load);
      const excesses = this.#excesses.get(deviceOf(placement));
      if (excesses !== undefined) fadeWindow(excesses, FADED_SHARE);
    }
    remember(this.#answers, placement.runnerId, (this.#answers.get(placement.runnerId) ?? 0) + 1);
    noteTime(recallAt(this.#links, linkOf(placement), attempt.load), aroundMs, nowMs);
    if (!isMeasured) return;
    noteTime(recall(this.#services, keyOf(placement, rows), createTimes), serviceMs, nowMs);
    noteTime(recallAt(this.#wholes, keyOf(placement, rows), attempt.load), aroundMs + serviceMs, nowMs);
    this.#noteQueued(attempt, aroundMs + serviceMs + times.queueMs, nowMs);
  }

  /**
   * Notes a refusal by the runner, or by the link in its place.
   * For want of time, the queue was at least as long as would have prevented the request, but no longer than reported. A
   * runner keeps a reserve, so that what it refuses is usually longer than what was predicted.
   * A lost model is loaded again.
   */
  refused(attempt: Attempt, { code, heard, retryAfterMs = Infinity }: Refusal, nowMs: number): void {
    const { placement, outlook, sentAtMs, deadlineAtMs } = attempt;
    const device = this.#device(placement);
    if (heard) this.#heard(attempt, nowMs);
    device.inFlight.delete(attempt);
    if (UNLOADED.has(code)) remember(this.#unloadedAtMs, placement.id, nowMs);
    if (code !== "overloaded" && code !== "budget-exceeded") return;
    const queueMs = predictQueueMs(device, nowMs, (each, rows) => this.#workMs(each, rows, nowMs));
    const leftMs = deadlineAtMs - sentAtMs;
    if (heard) this.#noteExcess(attempt, leftMs - outlook.serviceMs, nowMs);
    if (heard) this.#noteQueued(attempt, leftMs, nowMs);
    const backlogMs = Math.min(retryAfterMs, leftMs - outlook.medianServiceMs);
    // What the link says in the runner's stead is nothing of the device.
    if (heard && backlogMs - (nowMs - sentAtMs) > queueMs) noteBacklog(device, backlogMs, sentAtMs);
  }

  /**
   * Notes an exceeded budget. The waited time is a lower bound of the latency, used where it exceeds the expected time:
   * behind a queue it counts with that.
   */
  missed(attempt: Attempt, nowMs: number): void {
    const { placement, outlook, sentAtMs, isCold, isProbe } = attempt;
    const device = this.#device(placement);
    device.inFlight.delete(attempt);
    // Requests that are missed in one silence were held up by one pause.
    const isSilent = device.missedAtMs !== null;
    noteMissed(device, attempt, nowMs);
    if (!isSilent && !isProbe) this.#named.noteMissed(placement);
    // A device that sends nothing at all shows nothing but its silence.
    if (isCold || device.missedAtMs === nowMs) return;
    const aroundMs = nowMs - sentAtMs - outlook.medianServiceMs - outlook.queueMs;
    if (aroundMs <= outlook.linkMs) return;
    if (outlook.queueMs > 0) {
      this.#noteQueued(attempt, nowMs - sentAtMs, nowMs);
      return this.#noteExcess(attempt, outlook.queueMs + aroundMs - outlook.linkMs, nowMs);
    }
    noteTime(recallAt(this.#links, linkOf(placement), attempt.load), aroundMs, nowMs);
    const wholes = recallAt(this.#wholes, keyOf(placement, attempt.rows), attempt.load);
    noteTime(wholes, aroundMs + outlook.medianServiceMs, nowMs);
  }

  /**
   * Notes a request whose caller went away. A wait beyond what was expected counts as a missed one, since callers may give
   * up before their budgets end, and only a miss shows a device that hangs; a shorter one shows nothing.
   */
  abandoned(attempt: Attempt, nowMs: number): void {
    const { placement, outlook, sentAtMs } = attempt;
    if (nowMs - sentAtMs > outlook.linkMs + outlook.serviceMs + outlook.queueMs + outlook.coldMs) {
      this.missed(attempt, nowMs);
      return;
    }
    forget(this.#device(placement), attempt);
  }

  /**
   * Notes that a request was refused by the prediction for a placement. Where nothing is answered, nothing else would
   * show that the device is fast again: the samples fade, so that requests are sent again after some seconds. Of one in
   * ten refusals it returns true: as many probes cost little, and show whether the rest was refused rightly.
   */
  noteRefusal(placement: LivePlacement, nowMs: number): boolean {
    const refusals = ((this.#refusals.get(placement.id) ?? 0) + 1) % REFUSALS_A_PROBE;
    remember(this.#refusals, placement.id, refusals);
    this.#fadeUnanswered(placement, nowMs);
    return refusals === 0;
  }

  #fadeUnanswered(placement: LivePlacement, nowMs: number): void {
    const unansweredMs = (this.#heardAtMs.get(placement.id) ?? Number.NEGATIVE_INFINITY) + UNANSWERED_MS;
    const sinceMs = Math.max(unansweredMs, this.#fadedAtMs.get(placement.id) ?? Number.NEGATIVE_INFINITY);
    const passedMs = Math.min(nowMs - sinceMs, REFUSED_HALF_LIFE_MS);
    if (passedMs < LEAST_FADED_MS) return;
    remember(this.#fadedAtMs, placement.id, nowMs);
    const share = 1 - 2 ** (-passedMs / REFUSED_HALF_LIFE_MS);
    // Other placements of the runner may answer, and show its link.
    const heardAtMs = this.#heardAtMs.get(placement.runnerId) ?? Number.NEGATIVE_INFINITY;
    this.#fade(placement, share, null, nowMs - heardAtMs > UNANSWERED_MS);
  }

  /** Notes the loss of the runner, or of the connection to it. */
  lost(attempt: Attempt, nowMs: number): void {
    const device = this.#device(attempt.placement);
    device.inFlight.delete(attempt);
    noteGone(device, nowMs);
  }

  /** Whether a probe of the placement is due; true once in `everyMs`. */
  takeProbe(placement: LivePlacement, everyMs: number, nowMs: number): boolean {
    return takeProbe(this.#device(placement), everyMs, nowMs);
  }

  /** Whether the placement's device has sent something since its last probe. */
  wasHeardSinceProbe(placement: LivePlacement): boolean {
    return wasHeardSinceProbe(this.#device(placement));
  }

  /** Without a predicted queue the wait shows nothing of predictions. */
  #noteExcess({ placement, outlook }: Attempt, waitMs: number, nowMs: number): void {
    if (outlook.queueMs === 0) return;
    noteSample(recall(this.#excesses, deviceOf(placement), createExcessWindow), waitMs - outlook.queueMs, nowMs);
  }

  /** Notes all that a request behind a queue took, less the predicted queue. */
  #noteQueued({ placement, rows, outlook, load }: Attempt, takenMs: number, nowMs: number): void {
    if (outlook.queueMs === 0) return;
    const beyondMs = Math.max(0, takenMs - outlook.queueMs);
    noteTime(recallAt(this.#queued, keyOf(placement, rows), load), beyondMs, nowMs);
  }

  #excessMs(placement: LivePlacement, confidence: number, nowMs: number): number {
    const window = this.#excesses.get(deviceOf(placement));
    return window === undefined ? 0 : windowQuantile(window, NO_EXCESS, confidence, nowMs);
  }

  /**
   * Samples of a placement at all sizes lose a share of their weight, and of its runner's link if wanted: those at one
   * load, or at all.
   */
  #fade(placement: LivePlacement, share: number, load: Load | null, fadesLink = true): void {
    const { id } = placement;
    const fadeAt = (byLoad: TimesByLoad | undefined) => {
      for (const [at, times] of byLoad?.entries() ?? [])
        if (times !== undefined && (load === null || at === load)) fadeTimes(times, share);
    };
    for (const [key, times] of this.#services) if (key.startsWith(`${id}/`)) fadeTimes(times, share);
    for (const map of [this.#wholes, this.#queued])
      for (const [key, byLoad] of map) if (key.startsWith(`${id}/`)) fadeAt(byLoad);
    if (fadesLink) fadeAt(this.#links.get(linkOf(placement)));
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

  #isCold({ runnerId, backend }: LivePlacement, nowMs: number): boolean {
    // The edge computes without the runner.
    if (backend === "edge-wasm") return false;
    return nowMs - (this.#heardAtMs.get(runnerId) ?? Number.NEGATIVE_INFINITY) > COLD_AFTER_MS;
  }

  /** Extra time of a request after a rest; null where this isolate has seen none. */
  #coldMs({ runnerId }: LivePlacement, confidence: number, nowMs: number): number | null {
    const window = this.#colds.get(runnerId);
    return window === undefined ? null : windowQuantile(window, null, confidence, nowMs);
  }

  /**
   * The cold start that a named budget has room for: where one is due, and until this isolate has had as many answers
   * from the runner as show the quantile at all. The calibration knows nothing of the Worker's own share, and the first
   * requests of all run code that is not compiled yet.
   */
  #namedColdMs(placement: LivePlacement, confidence: number, nowMs: number): number {
    const isNew =
      placement.backend !== "edge-wasm" && (this.#answers.get(placement.runnerId) ?? 0) < 1 / (1 - confidence);
    if (!isNew && !this.#isCold(placement, nowMs)) return 0;
    return this.#coldMs(placement, confidence, nowMs) ?? UNSEEN_COLD_MS;
  }

  /** At a load without any, the times of the next lower one count: more requests take no less. */
  #linkMs(placement: LivePlacement, confidence: number, nowMs: number, load: Load): number {
    const times = this.#links.get(linkOf(placement))?.findLast((each, at) => at <= load && each !== undefined);
    return quantileOf(times, calibratedLink(placement.linkMs), confidence, nowMs);
  }

  /**
   * The service, and link and service together. The sum of their quantiles exceeds the quantile of their sum: a pause
   * that holds up some requests in the service and others around it counts twice. Enough requests show that quantile
   * itself.
   */
  #idle(placement: LivePlacement, rows: number, confidence: number, nowMs: number, load: Load = NO_LOAD): IdleTimes {
    const key = keyOf(placement, rows);
    const serviceMs = quantileOf(this.#services.get(key), calibratedSketch(placement.sweep, rows), confidence, nowMs);
    const sumMs = this.#linkMs(placement, confidence, nowMs, load) + serviceMs;
    const whole = this.#wholes.get(key)?.[load];
    const shownMs = whole === undefined ? Infinity : shownQuantile(whole, confidence, nowMs);
    return { serviceMs, idleMs: Math.min(sumMs, shownMs) };
  }

  #medianServiceMs(placement: LivePlacement, rows: number, nowMs: number): number {
    const times = this.#services.get(keyOf(placement, rows));
    return quantileOf(times, calibratedSketch(placement.sweep, rows), 0.5, nowMs);
  }

  /** Time of waiting rows, computed in batches of the largest size that was measured and is allowed. */
  #workMs(placement: LivePlacement, rows: number, nowMs: number): number {
    const largest = largestRows(placement);
    const whole = Math.floor(rows / largest);
    const rest = rows % largest;
    const wholeMs = whole === 0 ? 0 : whole * this.#medianServiceMs(placement, largest, nowMs);
    return wholeMs + (rest === 0 ? 0 : this.#medianServiceMs(placement, rest, nowMs));
  }

  /** Rest of loading the model: after its runner has connected, and after it has lost the model. */
  #loadingMs({ id, loadMs, connectedAtMs, warmAtMs }: LivePlacement, nowMs: number): number {
    const unloadedAtMs = this.#unloadedAtMs.get(id);
    if (unloadedAtMs !== undefined) return Math.max(0, loadMs - Math.max(0, nowMs - unloadedAtMs));
    const wasHeard = (this.#heardAtMs.get(id) ?? Number.NEGATIVE_INFINITY) >= connectedAtMs;
    return wasHeard ? 0 : Math.max(0, warmAtMs - nowMs);
  }
}

/** The instance of this isolate. */
export const placementWatch = new PlacementWatch();

function keyOf(placement: LivePlacement, rows: number): string {
  return `${sizeKeyOf(placement)}/${Math.floor(Math.log2(rows))}`;
}

/** A load stands for 0, 1 to 2, 3 to 6, 7 to 14, or more requests that a device has not answered. */
type Load = 0 | 1 | 2 | 3 | 4;
const NO_LOAD = 0;
const MOST_LOAD = 4;

function loadOf({ inFlight }: DeviceWatch): Load {
  return Math.min(MOST_LOAD, Math.floor(Math.log2(inFlight.size + 1))) as Load;
}

/** Times at each load that was seen. */
type TimesByLoad = (RecentTimes | undefined)[];

function recallAt(map: Map<string, TimesByLoad>, key: string, load: Load): RecentTimes {
  const byLoad = recall(map, key, () => Array.from<undefined>({ length: MOST_LOAD + 1 }));
  return (byLoad[load] ??= createTimes());
}

/**
 * The most that may be predicted from the question on for a request with a named budget. The budget is for the whole: an
 * unusual time before the question leaves less for the rest, which most requests do not need. So it takes from that room
 * until the chances are even. A time that uses the whole room up takes nothing: the request is late anyway.
 */
function restOf({ beforeMs, idleMs }: NamedTimes, spentMs: number, evenMs: () => number): number {
  const overMs = spentMs - beforeMs;
  return overMs <= 0 || overMs >= idleMs ? idleMs : Math.min(idleMs, Math.max(evenMs(), idleMs - overMs));
}

function deviceOf(placement: LivePlacement): string {
  return `${linkOf(placement)}/${placement.deviceKey}`;
}

function linkOf({ project, runnerId }: LivePlacement): string {
  return `${project}/${runnerId}`;
}

/** A quantile of recent times; without any, the calibration's. */
function quantileOf(times: RecentTimes | undefined, prior: Sketch, confidence: number, nowMs: number): number {
  return times === undefined ? calibratedQuantile(prior, confidence) : timeQuantile(times, prior, confidence, nowMs);
}

function createExcessWindow(): SlidingWindow {
  return createWindow(EXCESS_HALF_LIFE_MS);
}

function createColdWindow(): SlidingWindow {
  return createWindow(COLD_HALF_LIFE_MS);
}

/** Value under a key, created where there is none. */
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
