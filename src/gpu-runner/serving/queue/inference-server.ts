import { setImmediate as nextTurn, setTimeout as delay } from "node:timers/promises";
import type { Fault } from "../../../protocol/wire/fault.ts";
import type { InferOffer } from "../../../protocol/link.ts";
import type { ServiceTimes } from "../../../protocol/inference/inference.ts";
import { FairPlaces } from "../../../protocol/inference/fair-places.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import type { Tensor } from "../../../protocol/wire/tensor.ts";
import { joinTensors, rowsOf, splitRows } from "./join-tensors.ts";
import { FairShare } from "./fair-share.ts";
import { judgeArrival, RefusalMemory } from "./judge-arrival.ts";
import { type Caps, createTrialLine, LineTable, type ServedLine } from "./line-table.ts";
import { modelKeyOf } from "./model-key.ts";
import { type BatchPlan, planBatch, type Running, type Waiting } from "./play-queue.ts";
import { levelOf } from "./service-times.ts";
import { ServingMeter } from "./serving-meter.ts";
import { costMs, Traffic } from "./traffic.ts";
import { byUrgency, insertByUrgency } from "./urgency.ts";

/** Backend of a request: a device's process, with the model loaded. */
export interface InferenceBackend {
  infer(
    modelKey: string,
    tensors: readonly Tensor[],
    options: { requestId: string },
  ): Promise<{ tensors: Tensor[]; times: { uploadMs: number; computeMs: number; readbackMs: number } }>;
}

/**
 * Request data for the queue, besides the tensors. `maxInFlight` limits the waiting and running requests of its model
 * with its threads on this device, from all callers; one of a higher priority replaces another.
 */
export interface ServerRequest extends Pick<InferOffer, "requestId" | "modelVersionId" | "variant" | "budgetMs">, Caps {
  /** Number of the model's project; requests without one count as one project's. */
  readonly tenant?: number | undefined;
  /** Threads of the loaded model; one by default. */
  readonly threads?: number;
  /** 0.99 where it is absent. */
  readonly confidence?: number;
  /** 0 where it is absent. */
  readonly priority?: number;
  /** Time from its arrival within which a refusal is early enough; 0 where it is absent. A wait may end well. */
  readonly refuseWithinMs?: number | undefined;
  /** Whether it may share a batch: the model computes each row by itself. */
  readonly joins?: boolean;
  /**
   * Whether it is a probe of the watch. A probe gives way to callers, is computed by itself, and affects no counts or
   * times.
   */
  readonly isProbe?: boolean;
  /** Aborted where the answer is no longer wanted. */
  readonly signal?: AbortSignal;
}

export interface Answer {
  readonly tensors: Tensor[];
  readonly times: ServiceTimes;
  /** Rows of its batch. */
  readonly rows: number;
  /** Expected time of the work that runs now, and of what waits and goes before the tenant's next request. */
  readonly backlogMs: number;
  /** Faults that were corrected; absent where there were none. */
  readonly faults?: Fault[];
}

interface Work extends Waiting {
  readonly line: ServedLine;
  readonly trialOf?: ServedLine;
  readonly arrivedMs: number;
  /** Time until which it may be refused for want of room. */
  readonly refusableUntilMs: number;
  readonly modelKey: string;
  readonly tensors: readonly Tensor[];
  readonly faults: Fault[];
  readonly isProbe: boolean;
  readonly signal: AbortSignal | undefined;
  readonly answer: Promise<Answer>;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

interface RunningBatch extends Running {
  readonly works: readonly Work[];
  /** Device time that its tenant was charged when it began. */
  readonly chargedMs: number;
}

/** Requests for which the queue is played again at the end of a batch, so that this costs less than a millisecond. */
const DECIDED_AGAIN = 32;
const TOO_SLOW = "The model takes longer here now than the budget.";
/** Most that the way to a device's process and back counts as its use: a longer one waits for a process that ended. */
const MOST_AROUND_MS = 100;
/** Tenants whose last trials are known. */
const KEPT_TRIALS = 128;
const NO_ROOM_IN_TIME = "The queue left no room for it in time.";
/** Below that of any request. */
const PROBE_PRIORITY = -1;

/**
 * Requests of one device. Each is judged on arrival by a forecast of the queue; then those that may share a batch are
 * computed together, one batch at a time.
 */
export class InferenceServer {
  readonly meter = new ServingMeter();
  readonly #backend: InferenceBackend;
  readonly #now: () => number;
  readonly #wait: (durationMs: number, signal: AbortSignal) => Promise<unknown>;
  readonly #lines = new LineTable();
  readonly #traffic = new Traffic();
  readonly #fair = new FairShare();
  readonly #arrange = <Waits extends Waiting>(order: readonly Waits[]) => this.#fair.arrange(order);
  /** Waiting requests, the most urgent first. */
  #order: readonly Work[] = [];
  /** Requests that found no room and may be refused later, with what ends their wait: a batch's end may leave some. */
  readonly #undecided = new Map<Work, AbortController>();
  readonly #places = new FairPlaces<number | undefined>(LIMITS.deviceQueueRequests);
  readonly #bytes = new FairPlaces<number | undefined>(LIMITS.deviceQueueBytes);
  #running: RunningBatch | null = null;
  readonly #refusals = new RefusalMemory();
  /** By tenant. */
  readonly #lastTrialMs = new Map<number | undefined, number>();
  /** Expected end of all waiting work, as of the last forecast. */
  #doneMs = 0;

  constructor(
    backend: InferenceBackend,
    now = () => performance.now(),
    wait: (durationMs: number, signal: AbortSignal) => Promise<unknown> = (durationMs, signal) =>
      delay(durationMs, null, { ref: false, signal }),
  ) {
    this.#backend = backend;
    this.#now = now;
    this.#wait = wait;
  }

  /**
   * Answers a request that arrived at `arrivedMs`, or throws: `overloaded` where it would be late or make others late,
   * at once or within its `refuseWithinMs`; `budget-exceeded` once an accepted one cannot be in time.
   */
  serve(request: ServerRequest, tensors: readonly Tensor[], arrivedMs: number = this.#now()): Promise<Answer> {
    const { requestId: id, budgetMs, confidence = 0.99, joins = false, isProbe = false, signal } = request;
    const priority = isProbe ? PROBE_PRIORITY : (request.priority ?? 0);
    const modelKey = modelKeyOf(request);
    const rows = rowsOf(tensors);
    const sizeBytes = tensors.reduce((sum, { bytes }) => sum + bytes.byteLength, 0);
    const line = isProbe
      ? this.#lines.probeLineOf(modelKey, tensors, request)
      : this.#lines.lineOf(modelKey, tensors, joins && rows !== null, request);
    const deadlineMs = arrivedMs + budgetMs;
    const refusableUntilMs = arrivedMs + Math.min(budgetMs, request.refuseWithinMs ?? 0);
    const waiting = { id, line, deadlineMs, priority, level: levelOf(confidence), rows: rows ?? 1, sizeBytes };
    const { promise: answer, resolve, reject } = Promise.withResolvers<Answer>();
    this.#enter({
      ...waiting,
      arrivedMs,
      refusableUntilMs,
      modelKey,
      tensors,
      faults: [],
      isProbe,
      signal,
      answer,
      resolve,
      reject,
    });
    if (this.#running === null) void this.#drain();
    if (!isProbe) this.meter.came(this.waiting);
    return answer;
  }

  /** Number of waiting requests, without probes, which come last. */
  get waiting(): number {
    let count = this.#order.length;
    while (this.#order[count - 1]?.isProbe) count--;
    return count + this.#undecided.size;
  }

  /** Requests in computation, without probes. */
  get computing(): number {
    return this.#running?.works.filter(({ isProbe }) => !isProbe).length ?? 0;
  }

  /** Waits until no request of a model waits or runs here, including those about to arrive at the time of the call. */
  async settled(modelKey: string): Promise<void> {
    for (;;) {
      await nextTurn();
      const works = [...this.#order, ...this.#undecided.keys(), ...(this.#running?.works ?? [])].filter(
        (work) => work.modelKey === modelKey,
      );
      if (works.length === 0) return;
      await Promise.allSettled(works.map(({ answer }) => answer));
    }
  }

  /** Drops a waiting request; a running one is finished and the edge ignores its answer. */
  cancel(requestId: string): void {
    const cancelled = [...this.#order, ...this.#undecided.keys()].find(({ id }) => id === requestId);
    if (cancelled === undefined) return;
    this.#leave([cancelled]);
    this.#endWait(cancelled);
    cancelled.reject(new ProblemError("budget-exceeded", "The request ended before it began."));
  }

  #enter(work: Work): void {
    const nowMs = this.#now();
    if (!work.isProbe) this.#traffic.note(work, nowMs);
    if (!this.#decide(work, nowMs).isDecided) this.#putOff(work, nowMs);
  }

  /**
   * Accepts or refuses a request; not decided is one that has no room now and may be decided later. `isPlayed` says
   * whether the queue was simulated for it, which costs most.
   */
  #decide(work: Work, nowMs: number): { readonly isDecided: boolean; readonly isPlayed: boolean } {
    if (this.#refusals.covers(work)) {
      const isDecided = this.#refuseUnlessPatient(work, "The queue already leaves no room for it.", nowMs);
      return { isDecided, isPlayed: false };
    }
    const { tenant } = work.line;
    const lastTrialMs = this.#lastTrialMs.get(tenant) ?? Number.NEGATIVE_INFINITY;
    const circumstances = { expected: this.#traffic.expectedAt(nowMs), lastTrialMs, arrange: this.#arrange };
    const verdict = judgeArrival(this.#order, work, nowMs, this.#running, circumstances);
    switch (verdict.kind) {
      case "admitted":
        this.#order = verdict.order;
        this.#doneMs = nowMs + verdict.backlogMs;
        for (const each of verdict.pushedOut) {
          this.#refuse(each, createOverloaded(reasonFor(each, work), verdict.backlogMs));
        }
        return { isDecided: true, isPlayed: true };
      case "trial":
        this.#lastTrialMs.delete(tenant);
        this.#lastTrialMs.set(tenant, nowMs);
        if (this.#lastTrialMs.size > KEPT_TRIALS) this.#lastTrialMs.delete(this.#lastTrialMs.keys().next().value);
        this.#order = insertByUrgency(this.#order, { ...work, line: createTrialLine(work.line), trialOf: work.line });
        return { isDecided: true, isPlayed: false };
      case "doomed":
        this.#refuse(work, createOverloaded(this.#undecided.has(work) ? NO_ROOM_IN_TIME : TOO_SLOW, 0));
        return { isDecided: true, isPlayed: false };
      case "overloaded":
        this.#refusals.note(work);
        this.#doneMs = nowMs + verdict.backlogMs;
        return { isDecided: this.#refuseUnlessPatient(work, verdict.reason, nowMs), isPlayed: true };
    }
  }

  #refuseUnlessPatient(work: Work, reason: string, nowMs: number): boolean {
    const hasWaited = this.#undecided.has(work);
    const isPatient = work.refusableUntilMs > nowMs && (hasWaited || this.#takePlaceFor(work));
    if (!isPatient) this.#refuse(work, createOverloaded(hasWaited ? NO_ROOM_IN_TIME : reason, this.#doneMs - nowMs));
    return !isPatient;
  }

  /** Lets a request wait for room until it must be refused. */
  #putOff(work: Work, nowMs: number): void {
    const ending = new AbortController();
    this.#undecided.set(work, ending);
    const decideLast = () => {
      if (!this.#undecided.has(work)) return;
      // A timer may ring a little early.
      this.#decide(work, Math.max(this.#now(), work.refusableUntilMs));
      this.#endWait(work);
      if (this.#running === null) void this.#drain();
    };
    void this.#wait(work.refusableUntilMs - nowMs, ending.signal).then(decideLast, () => {});
  }

  /** Ends the wait for room, whose timer would keep the request and its answer. */
  #endWait(work: Work): void {
    this.#undecided.get(work)?.abort();
    if (!this.#undecided.delete(work)) return;
    this.#places.giveBack(work.line.tenant);
    this.#bytes.giveBack(work.line.tenant, work.sizeBytes);
  }

  /** Whether a request gets a place to wait undecided, which is no part of what is accepted; `#endWait` gives it back. */
  #takePlaceFor({ sizeBytes, line }: Work): boolean {
    if (!this.#places.take(line.tenant)) return false;
    if (this.#bytes.take(line.tenant, sizeBytes)) return true;
    this.#places.giveBack(line.tenant);
    return false;
  }

  /**
   * Decides again about those that found no room: of each tenant in turn, first those that take the device for the
   * shortest time.
   */
  #decideAgain(nowMs: number): void {
    const waiting = [...this.#undecided.keys()].toSorted(
      (a, b) => b.priority - a.priority || costMs(a) - costMs(b) || byUrgency(a, b),
    );
    const works = takeInTurn([...Map.groupBy(waiting, ({ line }) => line.tenant).values()]);
    let played = 0;
    for (const work of works) {
      const { isDecided, isPlayed } = this.#decide(work, nowMs);
      if (isDecided) this.#endWait(work);
      if (isPlayed) played++;
      // What is left waits for the end of a batch, so there must be one.
      if (played >= DECIDED_AGAIN && this.#order.length > 0) return;
    }
  }

  #refuse(work: Work, problem: ProblemError): void {
    if (!work.isProbe) this.meter.refused();
    work.reject(problem);
  }

  #leave(works: readonly Work[]): void {
    this.#refusals.clear();
    const left = new Set(works);
    this.#order = this.#order.filter((each) => !left.has(each));
  }

  async #drain(): Promise<void> {
    let { batch, backlogMs } = this.#takeBatch();
    while (batch.length > 0) {
      const answer = await this.#compute(batch);
      ({ batch, backlogMs } = this.#takeBatch());
      answer(backlogMs);
    }
  }

  /** Takes the next batch out of the queue, and refuses requests that cannot be in time. */
  #takeBatch(): Pick<BatchPlan<Work>, "batch" | "backlogMs"> {
    const startedMs = this.#now();
    this.#running = null;
    this.#refusals.clear();
    this.#decideAgain(startedMs);
    const expected = this.#traffic.expectedAt(startedMs);
    const { doomed, batch, backlogMs } = planBatch(this.#order, startedMs, expected, this.#arrange);
    this.#leave([...doomed, ...batch]);
    for (const each of doomed) {
      this.#refuse(each, new ProblemError("budget-exceeded", "It could no longer be answered in time."));
    }
    // They held places that others may have waited for.
    if (batch.length === 0 && doomed.length > 0) return this.#takeBatch();
    this.#begin(batch, startedMs);
    return { batch, backlogMs };
  }

  #begin(works: readonly Work[], startedMs: number): void {
    const [first] = works;
    if (first === undefined) return;
    const { line, trialOf, isProbe } = first;
    const rows = countRows(works);
    const chargedMs = isProbe ? 0 : line.times.expectedMs(rows);
    if (!isProbe) this.#fair.charge(line.tenant, chargedMs, this.#order);
    const requests = works.length;
    this.#running = { line, rows, startedMs, requests, works, chargedMs, ...(trialOf && { trialOf }) };
  }

  /** Computes a batch. Returns the function that answers its requests, to be called once the backlog is known. */
  async #compute(batch: readonly Work[]): Promise<(backlogMs: BatchPlan<Work>["backlogMs"]) => void> {
    const startedMs = this.#now();
    const { modelKey, id: requestId, line, trialOf, isProbe } = batch[0]!;
    const rows = countRows(batch);
    const meter = isProbe ? null : this.meter;
    let usedMs: number | null = null;
    meter?.began(startedMs);
    try {
      const inputs = batch.length === 1 ? batch[0]!.tensors : joinTensors(batch.map(({ tensors }) => tensors));
      const { tensors, times } = await this.#backend.infer(modelKey, inputs, { requestId });
      const outputs =
        batch.length === 1
          ? [tensors]
          : splitRows(
              tensors,
              batch.map((each) => each.rows),
            );
      if (outputs === null) throw new ProblemError("backend-failed", "The outputs have not the rows of the inputs.");
      const endedMs = this.#now();
      const serviceMs = endedMs - startedMs;
      // A lost device has been restarted meanwhile.
      if (!isProbe && batch.every(({ faults }) => faults.length === 0)) {
        if (trialOf === undefined) line.times.note(rows, serviceMs, endedMs);
        else trialOf.times.noteTrial(rows, serviceMs, endedMs);
      }
      usedMs = Math.min(serviceMs, times.uploadMs + times.computeMs + times.readbackMs + MOST_AROUND_MS);
      const queuedMs = batch.map(({ arrivedMs }) => startedMs - arrivedMs);
      meter?.computed(rows, times, queuedMs);
      // The way to and from the device's process counts with the transfers.
      const readbackMs = Math.max(0, serviceMs - times.uploadMs - times.computeMs);
      return (backlogMs) => {
        for (const [index, { faults, resolve }] of batch.entries()) {
          // The time of a lost attempt counts as queueing.
          const all = { ...times, queueMs: queuedMs[index]!, readbackMs };
          const backlog = { backlogMs: backlogMs(line.tenant) };
          resolve({ tensors: outputs[index]!, times: all, rows, ...backlog, ...(faults.length > 0 && { faults }) });
        }
      };
    } catch (error) {
      this.#fail(batch, error);
      return () => {};
    } finally {
      const endedMs = this.#now();
      usedMs ??= endedMs - startedMs;
      if (!isProbe) this.#fair.charge(line.tenant, usedMs - (this.#running?.chargedMs ?? 0), this.#order);
      meter?.ended(endedMs);
    }
  }

  /**
   * Refuses a request that fails alone, after a second try where the device was lost under it. In a joined batch one
   * request may be the cause, so each is tried by itself.
   */
  #fail(batch: readonly Work[], error: unknown): void {
    const lost = error instanceof ProblemError && error.problem.code === "device-lost" ? error.problem : null;
    for (const work of batch) {
      const isTried = lost === null ? batch.length === 1 : work.faults.length > 0;
      if (isTried || work.signal?.aborted === true) {
        if (!work.isProbe) this.meter.failed();
        work.reject(error);
      } else {
        const faults: Fault[] = lost === null ? [] : [{ code: lost.code, detail: lost.detail, action: "retried" }];
        this.#order = insertByUrgency(this.#order, { ...work, line: work.line.alone, faults });
      }
    }
  }
}

/** One of each list in turn, in the order of the lists. */
function takeInTurn(lists: readonly (readonly Work[])[]): Work[] {
  const longest = lists.reduce((most, { length }) => Math.max(most, length), 0);
  return Array.from({ length: longest }, (_, place) => lists.flatMap((list) => list[place] ?? [])).flat();
}

function reasonFor(pushedOut: Work, by: Work): string {
  return pushedOut.line.tenant === by.line.tenant
    ? "Something more important came."
    : "Another project came that had used less of the device.";
}

function countRows(batch: readonly Work[]): number {
  return batch.reduce((sum, { rows }) => sum + rows, 0);
}

function createOverloaded(reason: string, backlogMs: number): ProblemError {
  return new ProblemError("overloaded", reason, { retryAfterMs: Math.max(1, Math.ceil(backlogMs)) });
}
