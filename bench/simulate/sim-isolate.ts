import { calibratedLatencyMs } from "../../src/edge/inference/predict/calibrated-service.ts";
import { type Candidate, type Choice, choosePlacement } from "../../src/edge/inference/choose-placement.ts";
import { isOnlyLearnt } from "../../src/edge/inference/predict/predict-latency.ts";
import { PROBE_MS } from "../../src/edge/inference/predict/device-watch.ts";
import { type Attempt, PlacementWatch } from "../../src/edge/inference/predict/placement-watch.ts";
import type { LivePlacement } from "../../src/edge/store/fleet/live-placement-store.ts";
import { createId } from "../../src/protocol/wire/id.ts";
import type { ProblemCode } from "../../src/protocol/wire/problem.ts";
import type { DurationSampler } from "./duration-sampler.ts";
import type { Platform } from "./platform.ts";
import type { SimClock } from "./sim-clock.ts";
import type { Placements, SimDatabase } from "./sim-database.ts";
import type { LinkEnd, SimLink } from "./sim-link.ts";

/** An inference request of one row, as a caller sends it. */
export interface SimRequest {
  readonly id: string;
  readonly version: string;
  readonly budgetMs: number;
  readonly confidence: number;
}

/** End of a request: `answered`, or the problem that its caller receives. */
export interface RequestEnd {
  readonly result: "answered" | ProblemCode;
  readonly totalMs: number;
  /** Whether it was tried on a second placement. */
  readonly isRetried: boolean;
}

type Admitted = Extract<Choice, { kind: "admitted" }>;
type Tried = { readonly kind: "missed" } | LinkEnd;

/** Problems that another placement may avoid, and the problem of each refused choice, as in the routes. */
const ELSEWHERE = new Set<ProblemCode>([
  "runner-lost",
  "runner-offline",
  "overloaded",
  "budget-exceeded",
  "device-lost",
]);
const REFUSALS = {
  unattainable: "budget-unattainable",
  overloaded: "overloaded",
  late: "overloaded",
  silent: "runner-offline",
  offline: "runner-offline",
  unmatched: "no-placement",
  none: "no-placement",
} as const;
const SNAPSHOT_MS = 1_000;
/** Duration of a database read, besides its rows. */
const READ_MS = 20;
const RECORD_MS = 1_000;
const SLOW_PROBE_MS = 50;
const SLOW_PROBE_SERVICES = 10;

/** One isolate of the Worker: its snapshot, its watch, and a request's path as in the routes. */
export class SimIsolate {
  readonly #watch = new PlacementWatch();
  readonly #parts: { clock: SimClock; platform: Platform; database: SimDatabase; links: ReadonlyMap<string, SimLink> };
  readonly #uniform: () => number;
  readonly #edge: DurationSampler;
  #placements: Placements;
  #readAtMs: number;
  /** The database's number of changes by then. */
  #readChanges: number;
  #isReading = false;
  /** Links that are about to receive outcomes of requests. */
  readonly #recording = new Set<string>();

  constructor(
    parts: { clock: SimClock; platform: Platform; database: SimDatabase; links: ReadonlyMap<string, SimLink> },
    uniform: () => number,
    edge: DurationSampler,
  ) {
    this.#parts = parts;
    this.#uniform = uniform;
    this.#edge = edge;
    this.#placements = parts.database.read();
    this.#readChanges = parts.database.changes;
    // Isolates began at different times.
    this.#readAtMs = parts.clock.nowMs - uniform() * SNAPSHOT_MS;
  }

  /** Answers by the deadline, if need be with a problem; a placement that is lost meanwhile is replaced once. */
  async answer(request: SimRequest): Promise<RequestEnd> {
    const { clock } = this.#parts;
    const arrivedMs = clock.nowMs;
    const deadlineMs = arrivedMs + request.budgetMs;
    const edgeMs = this.#edge(this.#uniform());
    await clock.delay(edgeMs / 2);
    this.#watch.noteSpent(clock.nowMs - arrivedMs, clock.nowMs);
    const first = this.#admit(request, arrivedMs, () => false);
    if (first.kind !== "admitted") return this.#end(REFUSALS[first.kind], arrivedMs, false);
    let tried = await this.#try(request, first.candidate, deadlineMs);
    const again =
      tried.kind === "failed" && ELSEWHERE.has(tried.code)
        ? this.#readmit(request, arrivedMs, first, tried.code)
        : null;
    if (again !== null) tried = await this.#try(request, again.candidate, deadlineMs);
    if (tried.kind === "missed") return this.#end("budget-exceeded", arrivedMs, again !== null);
    if (tried.kind === "failed") return this.#end(tried.code, arrivedMs, again !== null);
    await clock.delay(edgeMs / 2);
    return this.#end("answered", arrivedMs, again !== null);
  }

  #end(result: RequestEnd["result"], arrivedMs: number, isRetried: boolean): RequestEnd {
    return { result, totalMs: this.#parts.clock.nowMs - arrivedMs, isRetried };
  }

  #readmit(request: SimRequest, arrivedMs: number, { candidate }: Admitted, code: ProblemCode): Admitted | null {
    const { runnerId, deviceKey } = candidate.placement;
    const isRunnerGone = code === "runner-lost" || code === "runner-offline";
    const choice = this.#admit(
      request,
      arrivedMs,
      (placement) => placement.runnerId === runnerId && (isRunnerGone || placement.deviceKey === deviceKey),
    );
    return choice.kind === "admitted" ? choice : null;
  }

  #admit(request: SimRequest, arrivedMs: number, avoided: (placement: LivePlacement) => boolean): Choice {
    const { nowMs } = this.#parts.clock;
    const { budgetMs, confidence } = request;
    const silent: LivePlacement[] = [];
    const placements = this.#snapshot().get(request.version) ?? [];
    const spentMs = nowMs - arrivedMs;
    const usualSpentMs = this.#watch.spentMs(confidence, nowMs);
    const choice = choosePlacement(
      placements.filter((placement) => !avoided(placement)),
      {
        wishes: { budgetMs, refuseWithinMs: 0, minFidelity: 0, onMiss: "reject" },
        spentMs,
        usualSpentMs,
        outlook: (placement) => {
          const outlook = this.#watch.outlook(placement, 1, confidence, nowMs);
          if (outlook.silentMs > 0) silent.push(placement);
          return outlook;
        },
        calibratedMs: (placement) => calibratedLatencyMs(placement, 1, confidence),
        random: this.#uniform,
      },
    );
    for (const placement of silent) this.#probe(placement, "silent");
    if (choice.kind === "overloaded") {
      const { placement, outlook } = choice.nearest;
      const leftMs = budgetMs - spentMs - Math.min(outlook.aloneMs, calibratedLatencyMs(placement, 1, confidence));
      const isDue = this.#watch.noteRefusal(placement, nowMs) && isOnlyLearnt(outlook, leftMs);
      const isSlow = isDue || outlook.aloneMs > budgetMs;
      if (isSlow || outlook.coldMs > 0) this.#probe(placement, isSlow ? "slow" : "cold");
    }
    return choice;
  }

  /** The snapshot; an aged one is read again in the background of the request, after a change. */
  #snapshot(): Placements {
    const { clock, platform, database } = this.#parts;
    if (clock.nowMs - this.#readAtMs > SNAPSHOT_MS && !this.#isReading) {
      this.#isReading = true;
      const atMs = clock.nowMs;
      const isChanged = database.changes !== this.#readChanges;
      const read = isChanged ? database.read() : this.#placements;
      this.#readChanges = database.changes;
      platform.read(isChanged ? 1 + database.rows : 1);
      clock.at(atMs + READ_MS, () => {
        [this.#placements, this.#readAtMs, this.#isReading] = [read, atMs, false];
      });
    }
    return this.#placements;
  }

  async #try(request: SimRequest, candidate: Candidate, deadlineMs: number): Promise<Tried> {
    const tried = await this.#ask(request.id, candidate, request.confidence, deadlineMs, false);
    if (tried.kind === "missed") this.#probe(candidate.placement, "silent");
    this.#record(candidate.placement.runnerId);
    return tried;
  }

  async #ask(
    requestId: string,
    { placement, outlook }: Pick<Candidate, "placement" | "outlook">,
    confidence: number,
    deadlineMs: number,
    isProbe: boolean,
  ): Promise<Tried> {
    const { clock, links } = this.#parts;
    const leftMs = Math.max(0, deadlineMs - clock.nowMs);
    const attempt = this.#watch.begin(placement, 1, outlook, leftMs, clock.nowMs, isProbe);
    const link = links.get(placement.runnerId)!;
    const { modelVersionId, configuration } = placement;
    const asked = { requestId, modelVersionId, budgetMs: leftMs, confidence, maxRows: configuration.maxRows };
    const ended = await link.infer(asked);
    const isMissed = ended.kind === "failed" && !ended.heard && ended.code === "budget-exceeded";
    const tried: Tried = isMissed ? { kind: "missed" } : ended;
    this.#learn(attempt, tried);
    return tried;
  }

  #learn(attempt: Attempt, tried: Tried): void {
    const { nowMs } = this.#parts.clock;
    if (tried.kind === "missed") return this.#watch.missed(attempt, nowMs);
    if (tried.kind === "answered") {
      const { times, rows, backlogMs } = tried.answer;
      return this.#watch.answered(attempt, { times, rows, backlogMs, isMeasured: true }, nowMs);
    }
    const isGone = !tried.heard && (tried.code === "runner-lost" || tried.code === "runner-offline");
    return isGone ? this.#watch.lost(attempt, nowMs) : this.#watch.refused(attempt, tried, nowMs);
  }

  #probe(placement: LivePlacement, reason: "silent" | "cold" | "slow"): void {
    const { nowMs } = this.#parts.clock;
    const outlook = this.#watch.outlook(placement, 1, 0.5, nowMs);
    const slowMs = Math.max(SLOW_PROBE_MS, SLOW_PROBE_SERVICES * outlook.medianServiceMs);
    const isSoon = reason === "slow" || (reason === "silent" && this.#watch.wasHeardSinceProbe(placement));
    if (!this.#watch.takeProbe(placement, isSoon ? slowMs : PROBE_MS, nowMs)) return;
    void this.#ask(createId("request", nowMs), { placement, outlook }, 0.5, nowMs + PROBE_MS, true);
  }

  /** Hands over outcomes of requests a second after the first of them, link by link. */
  #record(runnerId: string): void {
    const { clock, links } = this.#parts;
    if (this.#recording.has(runnerId)) return;
    this.#recording.add(runnerId);
    clock.at(clock.nowMs + RECORD_MS, () => {
      this.#recording.delete(runnerId);
      links.get(runnerId)!.record();
    });
  }
}
