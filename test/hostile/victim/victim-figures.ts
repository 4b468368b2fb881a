import { summarise } from "../../../src/stats/distribution/distribution.ts";

/** How one request of the victim ended. */
export interface Ended {
  /** Status and problem code, such as `503 overloaded`; `no answer` without one. */
  readonly answer: string;
  readonly isAsExpected: boolean;
  /** From the moment at which it was due. */
  readonly latencyMs: number;
  /** Delay of the victim's own process before it was sent. */
  readonly lagMs: number;
}

/** Requests of one sort. Times are of those that were answered as expected. */
export interface Figures {
  readonly sent: number;
  readonly failed: number;
  readonly byAnswer: Readonly<Record<string, number>>;
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
}

export interface VictimFigures {
  readonly seconds: number;
  readonly inferences: Figures;
  /** Job lists, questions to the history, and inferences of an unknown model, each once a second. */
  readonly others: Figures;
  readonly lagP99Ms: number;
}

export function toFigures(ended: readonly Ended[]): Figures {
  const byAnswer: Record<string, number> = {};
  for (const { answer } of ended) byAnswer[answer] = (byAnswer[answer] ?? 0) + 1;
  const good = ended.filter(({ isAsExpected }) => isAsExpected).map(({ latencyMs }) => latencyMs);
  const { p50, p99 } = good.length === 0 ? { p50: null, p99: null } : summarise(good);
  return { sent: ended.length, failed: ended.length - good.length, byAnswer, p50Ms: p50, p99Ms: p99 };
}
