import type { Entry } from "../contest.ts";
import { median } from "../../src/stats/distribution/summary.ts";

/** An answer: percentiles by series, step and share, and the rows read where the database counts them. */
export interface Answer {
  readonly percentiles: Float32Array;
  readonly rowsRead: number | null;
}

/** A round repeats the question within this time, at least once. */
const ROUND_MS = 300;

/** Requests the output, which also warms a contender up; a round's value is the median time of an answer. */
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
