import { summarise } from "../../stats/distribution/distribution.ts";
import type { LoadOutcome } from "./open-loop.ts";

/** Window of the current values in the display. */
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

/** Result of a load. Latencies are of answered requests, from their scheduled arrival. */
export interface LoadReport {
  readonly requests: number;
  /** Length of the arrivals. */
  readonly durationMs: number;
  readonly offeredPerSecond: number;
  /** Answers within their budget, per second of the load. */
  readonly goodputPerSecond: number;
  /** Requests by how they ended. */
  readonly results: Readonly<Record<string, number>>;
  /** Answers that came straight from the runner; absent where all went through the edge. */
  readonly direct?: number;
  /** Share of the answered requests within the budget; null if none was answered. */
  readonly inBudgetShare: number | null;
  readonly latencyMs: Quantiles | null;
  /** Lag of the generator behind its own schedule: above some milliseconds it distorts the figures. */
  readonly lagMs: Quantiles | null;
}

interface Quantiles {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

/** Sums up outcomes of a load whose requests arrived for so long. */
export function reportLoad(outcomes: readonly LoadOutcome[], durationMs: number): LoadReport {
  const results: Record<string, number> = {};
  for (const { result } of outcomes) results[result] = (results[result] ?? 0) + 1;
  const answered = outcomes.filter(({ result }) => result === "ok" || result === "late");
  const inBudget = results["ok"] ?? 0;
  return {
    requests: outcomes.length,
    durationMs,
    offeredPerSecond: (1e3 * outcomes.length) / durationMs,
    goodputPerSecond: (1e3 * inBudget) / durationMs,
    results,
    inBudgetShare: answered.length === 0 ? null : inBudget / answered.length,
    latencyMs: quantilesOf(answered.map(({ latencyMs }) => latencyMs)),
    lagMs: quantilesOf(outcomes.map(({ lagMs }) => lagMs)),
  };
}

function quantilesOf(values: readonly number[]): Quantiles | null {
  if (values.length === 0) return null;
  const { p50, p90, p99, max } = summarise(values);
  return { p50, p90, p99, max };
}
