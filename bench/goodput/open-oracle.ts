import type { Contender } from "../contest.ts";
import { boundGoodput } from "./bound-goodput.ts";
import type { GoodputCase } from "./goodput-case.ts";
import { createTrace, seedOfRound } from "./trace.ts";

/** The upper bound as a contender that has goodput only: it computes no answers, so it repeats the expected ones. */
export const openOracle: Contender<GoodputCase> = async ({ ratePerSecond, serviceTimes, expected }) => {
  let round = 0;
  return {
    opened: { output: expected, adapter: null },
    async measure() {
      round++;
      const { arrivalsMs, requests, durationMs } = createTrace(ratePerSecond, seedOfRound(round));
      const known = requests.map(({ model, budgetMs }, index) => {
        const arrivalMs = arrivalsMs[index]!;
        return { model, arrivalMs, deadlineMs: arrivalMs + budgetMs };
      });
      return { goodput: (1e3 * boundGoodput(known, serviceTimes)) / durationMs };
    },
    async close() {},
  };
};
