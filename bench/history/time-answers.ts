import type { Entry } from "../contest.ts";
import { median } from "../../src/stats/distribution/summary.ts";

/** An answer: percentiles by series, step and share, and what the database counts as read, where it does. */
export interface Answer {
  readonly percentiles: Float32Array;
  readonly rowsRead: number | null;
}

/** A round asks as often as fits into this time, and once at least. */
const ROUND_MS = 300;

/** Asks for the output, which is a contender's warming up, too; a round tells the median time of an answer. */
export async function timeAnswers(ask: () => Promise<Answer>): Promise<Entry> {
  const { percentiles } = await ask();
  return {
    opened: { output: percentiles, adapter: null },
    async measure() {
      const times: number[] = [];
      let rowsRead: number | null = null;
      for (const endMs = performance.now() + ROUND_MS; times.length === 0 || performance.now() < endMs;) {
        const startedMs = performance.now();
        ({ rowsRead } = await ask());
        times.push(performance.now() - startedMs);
      }
      return { time: median(times), ...(rowsRead === null ? {} : { "rows read": rowsRead }) };
    },
    close: async () => {},
  };
}
