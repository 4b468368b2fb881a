import { summarise } from "../../stats/distribution.ts";
import type { LoadOutcome } from "./open-loop.ts";

/** What "now" is in the display. */
const WINDOW_MS = 1_000;

/** The line that a person watches while a load runs. */
export class LiveLine {
  readonly #requests: number;
  readonly #startedMs: number;
  readonly #results = new Map<string, number>();
  /** The last window's, by the time of their end. */
  readonly #recent: { readonly endedMs: number; readonly outcome: LoadOutcome }[] = [];
  #sent = 0;
  #ended = 0;

  constructor(requests: number, startedMs: number) {
    this.#requests = requests;
    this.#startedMs = startedMs;
  }

  noteSent(): void {
    this.#sent++;
  }

  noteEnded(outcome: LoadOutcome, nowMs: number): void {
    this.#ended++;
    this.#results.set(outcome.result, (this.#results.get(outcome.result) ?? 0) + 1);
    this.#recent.push({ endedMs: nowMs, outcome });
    this.#forget(nowMs);
  }

  /** At most so many characters: how far it is, the last second, and how requests ended so far. */
  render(nowMs: number, columns: number): string {
    this.#forget(nowMs);
    const recent = this.#recent.map(({ outcome }) => outcome);
    const latencies = recent.filter(isAnswered).map(({ latencyMs }) => latencyMs);
    const results = [...this.#results].toSorted(([, a], [, b]) => b - a);
    return [
      `${((nowMs - this.#startedMs) / 1e3).toFixed(1)} s`,
      `${this.#sent}/${this.#requests} sent, ${this.#sent - this.#ended} waiting`,
      `now ${recent.filter(({ result }) => result === "ok").length}/s in budget`,
      ...(latencies.length === 0 ? [] : [`p99 ${summarise(latencies).p99.toFixed(1)} ms`]),
      results.map(([result, count]) => `${result} ${count}`).join(", "),
    ]
      .filter((part) => part !== "")
      .join(" · ")
      .slice(0, columns);
  }

  /** With every end: a line that is never shown must not grow. */
  #forget(nowMs: number): void {
    while (this.#recent[0] !== undefined && nowMs - this.#recent[0].endedMs >= WINDOW_MS) this.#recent.shift();
  }
}

function isAnswered({ result }: LoadOutcome): boolean {
  return result === "ok" || result === "late";
}
