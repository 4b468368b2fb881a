import { type ProblemCode, toProblem } from "../../protocol/wire/problem.ts";
import type { PreparedProbe, WatchedPlacement, WatchedPlacements } from "./prepare-probe.ts";

/** Probes of one placement in a report: enough for a median that one hiccup does not move. */
const PROBES_PER_REPORT = 5;

/** Target of probes in turn. */
export interface Probed {
  readonly deviceKey: string;
  /** Time of its last probe on the monotonic clock; -∞ before the first. */
  readonly probedAtMs: number;
}

/** Interval between this runner's probes, where this many placements share the interval of a report. */
export function probeStepMs(intervalMs: number, placements: number): number {
  return intervalMs / (PROBES_PER_REPORT * Math.max(1, placements));
}

/**
 * Target of the next probe: of those that are due and whose device has time, the one with the oldest probe; undefined
 * where there is none. Called every step, it reaches each as often as a report requires.
 */
export function chooseProbe<Target extends Probed>(
  targets: readonly Target[],
  intervalMs: number,
  nowMs: number,
  hasTime: (deviceKey: string) => boolean,
): Target | undefined {
  // Timers are slightly early or late.
  const dueMs = nowMs - intervalMs / PROBES_PER_REPORT + probeStepMs(intervalMs, targets.length) / 2;
  let chosen: Target | undefined;
  for (const target of targets) {
    if (target.probedAtMs > dueMs || target.probedAtMs >= (chosen?.probedAtMs ?? Infinity)) continue;
    if (hasTime(target.deviceKey)) chosen = target;
  }
  return chosen;
}

/** Share of a device's time that probes may use. */
const PROBE_SHARE = 0.01;
/** Largest saved credit of a device: the cost of a sudden slowdown at once. */
const MOST_CREDIT_MS = 1_000;

/** Remaining time for probes on a device, in milliseconds of one monotonic clock. */
interface ProbeCredit {
  readonly ms: number;
  readonly atMs: number;
}

/** Credit of a device that was not probed yet. */
export function fullCredit(nowMs: number): ProbeCredit {
  return { ms: MOST_CREDIT_MS, atMs: nowMs };
}

/**
 * Token bucket: credit grows with time, up to the largest saved credit.
 * Source: ITU-T I.371, where it is the leaky bucket.
 */
export function earnCredit({ ms, atMs }: ProbeCredit, nowMs: number): ProbeCredit {
  return { ms: Math.min(MOST_CREDIT_MS, ms + PROBE_SHARE * (nowMs - atMs)), atMs: nowMs };
}

/** Subtracts a probe's time; one that exceeds the credit leaves a debt, so that slow models are probed seldom. */
export function spendCredit(credit: ProbeCredit, tookMs: number): ProbeCredit {
  return { ...credit, ms: credit.ms - tookMs };
}

/** Results of one placement's probes in a span. */
export interface ProbeTally {
  /** All probes, failed ones included. */
  probes: number;
  errors: number;
  readonly serviceMs: number[];
  readonly computeMs: number[];
}

export interface ProbeLoopParts {
  readonly placements: Pick<WatchedPlacements, "all">;
  readonly prepare: (placement: WatchedPlacement) => Promise<PreparedProbe>;
  readonly now?: () => number;
}

/** Problems of a busy device, for which no probe counts. */
const GAVE_WAY: ReadonlySet<ProblemCode> = new Set(["overloaded", "budget-exceeded", "cancelled"]);

/**
 * Most that a probe costs besides computing, or if its device was lost. What took longer was a wait, for a restart or
 * for this process, and none of the device's time; but the probe may have caused the loss.
 */
const MOST_AROUND_MS = 100;

/** Probes placements in turn, one at a time on a device, and none while jobs run. */
export class ProbeLoop {
  readonly #placements: ProbeLoopParts["placements"];
  readonly #prepare: ProbeLoopParts["prepare"];
  readonly #now: () => number;
  readonly #credits = new Map<string, ProbeCredit>();
  readonly #probedAtMs = new Map<string, number>();
  /** Devices of the current probes. */
  readonly #probing = new Set<string>();
  /** Probes that wait for a device or run there. */
  readonly #asked = new Set<Promise<unknown>>();
  #tallies = new Map<string, ProbeTally>();
  /** Since the start. */
  readonly #total = { made: 0, failed: 0 };
  #timer: NodeJS.Timeout | undefined;
  #pauses = 0;
  #withdrawn = new AbortController();

  constructor({ placements, prepare, now = () => performance.now() }: ProbeLoopParts) {
    this.#placements = placements;
    this.#prepare = prepare;
    this.#now = now;
  }

  /** Starts probing, each placement a few times in every interval. */
  start(intervalMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => {
        this.#step(intervalMs);
        this.start(intervalMs);
      },
      probeStepMs(intervalMs, this.#placements.all().length),
    );
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#withdraw();
  }

  /** Stops probing until `resume` was called as often; settles when no probe runs any more. */
  async pause(): Promise<void> {
    this.#pauses++;
    this.#withdraw();
    await Promise.allSettled(this.#asked);
  }

  resume(): void {
    this.#pauses--;
  }

  /** Results since the last cut, by placement. */
  cut(): Map<string, ProbeTally> {
    const tallies = this.#tallies;
    this.#tallies = new Map();
    return tallies;
  }

  /** All probes since the start, failed ones included. */
  get total(): { readonly made: number; readonly failed: number } {
    return this.#total;
  }

  #withdraw(): void {
    this.#withdrawn.abort();
    this.#withdrawn = new AbortController();
  }

  #step(intervalMs: number): void {
    if (this.#pauses > 0) return;
    const nowMs = this.#now();
    const targets = this.#placements.all().map(([key, placement]) => {
      const probedAtMs = this.#probedAtMs.get(key) ?? Number.NEGATIVE_INFINITY;
      return { key, placement, deviceKey: placement.deviceKey, probedAtMs };
    });
    const hasTime = (deviceKey: string) => !this.#probing.has(deviceKey) && this.#creditOf(deviceKey, nowMs).ms > 0;
    const target = chooseProbe(targets, intervalMs, nowMs, hasTime);
    if (target === undefined) return;
    this.#probedAtMs.set(target.key, nowMs);
    void this.#probe(target.key, target.placement, this.#withdrawn.signal);
  }

  async #probe(key: string, placement: WatchedPlacement, withdrawn: AbortSignal): Promise<void> {
    const { deviceKey } = placement;
    const startedMs = this.#now();
    let isAsked = false;
    this.#probing.add(deviceKey);
    try {
      const probe = await this.#prepare(placement);
      isAsked = !withdrawn.aborted;
      if (isAsked) await this.#ask(key, deviceKey, probe, withdrawn);
    } catch (error) {
      const { code } = toProblem(error);
      if (GAVE_WAY.has(code)) return;
      this.#tallyOf(key).errors++;
      this.#total.failed++;
      const tookMs = this.#now() - startedMs;
      // One that found its device down did not cause that.
      const lostMs = isAsked ? MOST_AROUND_MS : Math.min(tookMs, MOST_AROUND_MS);
      this.#spend(deviceKey, code === "device-lost" ? lostMs : tookMs);
    } finally {
      this.#probing.delete(deviceKey);
    }
  }

  async #ask(key: string, deviceKey: string, probe: PreparedProbe, withdrawn: AbortSignal): Promise<void> {
    const asked = probe(withdrawn);
    this.#asked.add(asked);
    try {
      const { serviceMs, computeMs } = await asked;
      const tally = this.#tallyOf(key);
      tally.serviceMs.push(serviceMs);
      tally.computeMs.push(computeMs);
      this.#spend(deviceKey, computeMs + Math.min(serviceMs - computeMs, MOST_AROUND_MS));
    } finally {
      this.#asked.delete(asked);
    }
  }

  #spend(deviceKey: string, tookMs: number): void {
    this.#credits.set(deviceKey, spendCredit(this.#creditOf(deviceKey, this.#now()), tookMs));
  }

  #creditOf(deviceKey: string, nowMs: number): ProbeCredit {
    const credit = this.#credits.get(deviceKey);
    return credit === undefined ? fullCredit(nowMs) : earnCredit(credit, nowMs);
  }

  #tallyOf(key: string): ProbeTally {
    const tally = this.#tallies.get(key) ?? { probes: 0, errors: 0, serviceMs: [], computeMs: [] };
    this.#tallies.set(key, tally);
    tally.probes++;
    this.#total.made++;
    return tally;
  }
}
