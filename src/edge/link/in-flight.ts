import { createProblem, type Problem } from "../../protocol/wire/problem.ts";
import { elapsedMs } from "../clock.ts";
import type { LinkOutcome } from "./link-rpc.ts";

interface Pending<Answer> {
  readonly connectionId: string;
  readonly sentAtMs: number;
  readonly timer: ReturnType<typeof setTimeout>;
  readonly resolve: (outcome: LinkOutcome<Answer>) => void;
}

/** Requests that a runner has and has not answered, each tied to the socket that it went out on. */
export class InFlightTable<Answer = Uint8Array> {
  readonly #pending = new Map<string, Pending<Answer>>();

  get size(): number {
    return this.#pending.size;
  }

  /** Waits for the answer to a request; at `budgetMs` it ends by itself and `onDeadline` is told. */
  add(requestId: string, connectionId: string, budgetMs: number, onDeadline: () => void): Promise<LinkOutcome<Answer>> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        onDeadline();
        this.fail(requestId, createProblem("budget-exceeded", "The runner did not answer within the budget."));
      }, budgetMs);
      this.#pending.set(requestId, { connectionId, sentAtMs: Date.now(), timer, resolve });
    });
  }

  /** Hands an answer over; an answer that nobody waits for (any more) is dropped. */
  answer(requestId: string, connectionId: string, answer: Answer): void {
    const pending = this.#take(requestId, connectionId);
    pending?.resolve({ ok: true, answer, roundTripMs: elapsedMs(pending.sentAtMs) });
  }

  /** Hands over the runner's word that there will be no answer. */
  refuse(requestId: string, connectionId: string, problem: Problem): void {
    this.#take(requestId, connectionId)?.resolve({ ok: false, heard: true, problem });
  }

  /** Ends a request that the runner has said nothing to. */
  fail(requestId: string, problem: Problem): void {
    this.#take(requestId)?.resolve({ ok: false, heard: false, problem });
  }

  /** Ends all requests of a socket that is gone. */
  failConnection(connectionId: string, problem: Problem): void {
    for (const [requestId, pending] of this.#pending) {
      if (pending.connectionId === connectionId) this.fail(requestId, problem);
    }
  }

  #take(requestId: string, connectionId?: string): Pending<Answer> | null {
    const pending = this.#pending.get(requestId);
    if (pending === undefined || (connectionId !== undefined && pending.connectionId !== connectionId)) return null;
    clearTimeout(pending.timer);
    this.#pending.delete(requestId);
    return pending;
  }
}
