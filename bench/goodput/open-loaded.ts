import type { Entry } from "../contest.ts";
import type { Target } from "../hop/start-stack.ts";
import { FrameSender } from "./frame-sender.ts";
import { collectOutputs, type GoodputCase } from "./goodput-case.ts";
import { putTrace } from "./put-trace.ts";
import { scoreRound } from "./score-round.ts";
import { createTrace, seedOfRound } from "./trace.ts";

/**
 * A prepared target: its outputs are collected, then an uncounted trace warms it up, so that it has adapted. Each round
 * is the next piece of the same trace for every contender.
 */
export async function openLoaded(
  target: Target,
  { ratePerSecond, shape }: GoodputCase,
  reset: () => void,
  close: () => Promise<void>,
): Promise<Entry> {
  const sender = new FrameSender(target);
  const end = async () => {
    sender.close();
    await close();
  };
  try {
    const output = await collectOutputs(sender);
    await putTrace(createTrace(ratePerSecond, seedOfRound(0), shape), sender, reset);
    let round = 0;
    return {
      opened: { output, adapter: null },
      async measure() {
        round++;
        const trace = createTrace(ratePerSecond, seedOfRound(round), shape);
        return scoreRound(trace, await putTrace(trace, sender, reset));
      },
      close: end,
    };
  } catch (error) {
    await end();
    throw error;
  }
}
