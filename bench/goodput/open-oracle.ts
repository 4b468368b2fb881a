import type { Contender } from "../contest.ts";
import { boundGoodput, knowRequests } from "./bound-goodput.ts";
import type { GoodputCase } from "./goodput-case.ts";
import { createTrace, seedOfRound } from "./trace.ts";

/** The upper bound as a contender that has goodput only: it computes no answers, so it repeats the expected ones. */
export const openOracle: Contender<GoodputCase> = async ({ ratePerSecond, shape, serviceTimes, expected }) => {
  let round = 0;
  return {
    opened: { output: expected, adapter: null },
    async measure() {
      round++;
      const trace = createTrace(ratePerSecond, seedOfRound(round), shape);
      return { goodput: (1e3 * boundGoodput(knowRequests(trace), serviceTimes)) / trace.durationMs };
    },
    async close() {},
  };
};
