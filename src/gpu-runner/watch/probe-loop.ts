import { type ProblemCode, toProblem } from "../../protocol/wire/problem.ts";
import type { PreparedProbe, WatchedPlacement, WatchedPlacements } from "./prepare-probe.ts";

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

/** Share of a device's time that probes may take. */
const PROBE_SHARE = 0.01;
/** What a device saves up at most: so much a sudden slowness may cost at once. */
const MOST_CREDIT_MS = 1_000;

/** Time that probes may still take of a device, in milliseconds of one monotonic clock. */
interface ProbeCredit {
  readonly ms: number;
  readonly atMs: number;
}

/** A device that was not probed yet. */
export function fullCredit(nowMs: number): ProbeCredit {
  return { ms: MOST_CREDIT_MS, atMs: nowMs };
}

/** A token bucket (ITU-T I.371 knows it as the leaky bucket): credit grows with the time, up to what may be saved. */
export function earnCredit({ ms, atMs }: ProbeCredit, nowMs: number): ProbeCredit {
  return { ms: Math.min(MOST_CREDIT_MS, ms + PROBE_SHARE * (nowMs - atMs)), atMs: nowMs };
}

/** Takes off what a probe took; one that took more than was there leaves a debt, so that slow models are probed seldom. */
export function spendCredit(credit: ProbeCredit, tookMs: number): ProbeCredit {
  return { ...credit, ms: credit.ms - tookMs };
}

/** What the probes of one placement found in a span. */
export interface ProbeTally {
  /** That were made, those that failed among them. */
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

/** A device that had something better to do: no probe was made. */
const GAVE_WAY: ReadonlySet<ProblemCode> = new Set(["overloaded", "budget-exceeded", "cancelled"]);

/** What a probe costs whose device was lost: it took no time there while that was started again, but may be its end. */
const LOST_MS = 100;

/** Probes placements in turn, one at a time on a device, and none while jobs run. */
export class ProbeLoop {
  readonly #placements: ProbeLoopParts["placements"];
  readonly #prepare: ProbeLoopParts["prepare"];
  readonly #now: () => number;
  readonly #credits = new Map<string, ProbeCredit>();
  readonly #probedAtMs = new Map<string, number>();
  /** Devices that a probe is meant for now. */
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

  /** Probes from now on, each placement a few times in every interval. */
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

  /** Makes no probe until as many `resume` have come; settles when none runs any more. */
  async pause(): Promise<void> {
    this.#pauses++;
    this.#withdraw();
    await Promise.allSettled(this.#asked);
  }

  resume(): void {
    this.#pauses--;
  }

  /** What was found since the last cut, by placement. */
  cut(): Map<string, ProbeTally> {
    const tallies = this.#tallies;
    this.#tallies = new Map();
    return tallies;
  }

  /** All probes since the start, those that failed among them. */
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
    this.#probing.add(deviceKey);
    try {
      const probe = await this.#prepare(placement);
      if (!withdrawn.aborted) await this.#ask(key, deviceKey, probe, withdrawn);
    } catch (error) {
      const { code } = toProblem(error);
      if (GAVE_WAY.has(code)) return;
      this.#tallyOf(key).errors++;
      this.#total.failed++;
      this.#spend(deviceKey, code === "device-lost" ? LOST_MS : this.#now() - startedMs);
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
      this.#spend(deviceKey, serviceMs);
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
