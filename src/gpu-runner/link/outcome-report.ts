import { LIMITS } from "../../protocol/wire/limits.ts";
import type { DirectOutcome } from "../../protocol/inference/ticket.ts";
import type { LinkChannel } from "./link-channel.ts";

/** As long as a Worker holds its outcomes back. */
const REPORT_AFTER_MS = 1_000;

/** Reports the outcomes of direct requests to the edge in batches; without a link the newest are kept. */
export class OutcomeReport {
  readonly #channel: Pick<LinkChannel, "send">;
  #waiting: DirectOutcome[] = [];
  #timer: NodeJS.Timeout | null = null;

  constructor(channel: Pick<LinkChannel, "send">) {
    this.#channel = channel;
  }

  add(outcome: DirectOutcome): void {
    this.#waiting.push(outcome);
    this.#timer ??= setTimeout(() => this.#report(), REPORT_AFTER_MS).unref();
  }

  /** Sends the waiting outcomes and stops the timer. */
  stop(): void {
    clearTimeout(this.#timer ?? undefined);
    this.#report();
    clearTimeout(this.#timer ?? undefined);
  }

  #report(): void {
    this.#timer = null;
    while (this.#waiting.length > 0) {
      const outcomes = this.#waiting.slice(0, LIMITS.directOutcomes);
      if (!this.#channel.send({ type: "directOutcomes", outcomes })) break;
      this.#waiting = this.#waiting.slice(outcomes.length);
    }
    if (this.#waiting.length === 0) return;
    this.#waiting = this.#waiting.slice(-LIMITS.directOutcomesKept);
    this.#timer = setTimeout(() => this.#report(), REPORT_AFTER_MS).unref();
  }
}
