import type { HealthReport } from "../../protocol/fleet/health.ts";
import { FairPlaces } from "../../protocol/inference/fair-places.ts";
import type { MemoryReport } from "../../protocol/fleet/memory.ts";
import type { LinkOutcome } from "./link-rpc.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { createProblem, type Problem } from "../../protocol/wire/problem.ts";

/**
 * Bytes of requests at one runner that it has not answered. They may lie in the memory of the link's object, which has
 * 128 MB (https://developers.cloudflare.com/durable-objects/platform/limits/), twice: as received and as sent.
 */
const IN_FLIGHT_BYTES = 48 * 1_024 * 1_024;

/** The clock and timers of deadlines. */
export interface Timing {
  now(): number;
  /** Runs something later; returns a function that cancels it. */
  after(delayMs: number, run: () => void): () => void;
}

interface Pending<Answer> {
  readonly connectionId: string;
  readonly sentAtMs: number;
  readonly stopTimer: () => void;
  readonly resolve: (outcome: LinkOutcome<Answer>) => void;
}

/** Unanswered requests at a runner, each tied to the socket that it went out on. */
export class InFlightTable<Answer = Uint8Array> {
  readonly #timing: Timing;
  readonly #pending = new Map<string, Pending<Answer>>();

  constructor(timing: Timing) {
    this.#timing = timing;
  }

  get size(): number {
    return this.#pending.size;
  }

  /** Waits for the answer to a request; at `budgetMs` it ends by itself, after `onDeadline`. */
  add(requestId: string, connectionId: string, budgetMs: number, onDeadline: () => void): Promise<LinkOutcome<Answer>> {
    return new Promise((resolve) => {
      const stopTimer = this.#timing.after(budgetMs, () => {
        onDeadline();
        this.fail(requestId, createProblem("budget-exceeded", "The runner did not answer within the budget."));
      });
      this.#pending.set(requestId, { connectionId, sentAtMs: this.#timing.now(), stopTimer, resolve });
    });
  }

  /** Hands an answer over; an answer without a waiting request is dropped. */
  answer(requestId: string, connectionId: string, answer: Answer): void {
    const pending = this.#take(requestId, connectionId);
    if (pending === null) return;
    // The platform's clock may have been set back meanwhile.
    pending.resolve({ ok: true, answer, roundTripMs: Math.max(0, this.#timing.now() - pending.sentAtMs) });
  }

  /** Ends a request by the problem that the runner reported. */
  refuse(requestId: string, connectionId: string, problem: Problem): void {
    this.#take(requestId, connectionId)?.resolve({ ok: false, heard: true, problem });
  }

  /** Ends a request by a problem that the runner did not report. */
  fail(requestId: string, problem: Problem): void {
    this.#take(requestId)?.resolve({ ok: false, heard: false, problem });
  }

  /** Ends all requests of a closed socket. */
  failConnection(connectionId: string, problem: Problem): void {
    for (const [requestId, pending] of this.#pending) {
      if (pending.connectionId === connectionId) this.fail(requestId, problem);
    }
  }

  #take(requestId: string, connectionId?: string): Pending<Answer> | null {
    const pending = this.#pending.get(requestId);
    if (pending === undefined || (connectionId !== undefined && pending.connectionId !== connectionId)) return null;
    pending.stopTimer();
    this.#pending.delete(requestId);
    return pending;
  }
}

/** Tables of the questions to a runner, by the kind of their answers, and what each project has in flight there. */
export function createInFlight(timing: Timing) {
  return {
    infer: new InFlightTable(timing),
    places: new FairPlaces<string>(LIMITS.inFlightPerRunner),
    bytes: new FairPlaces<string>(IN_FLIGHT_BYTES),
    memory: new InFlightTable<MemoryReport>(timing),
    health: new InFlightTable<HealthReport>(timing),
  };
}
