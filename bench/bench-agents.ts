import type { Bench } from "./benches.ts";
import { checkAgainstReference } from "./check-against-reference.ts";
import { runContest } from "./contest.ts";
import type { StreamCase } from "./kernel-contest/kernel-case.ts";
import { openAdapter } from "./open-adapter.ts";
import { inProcess } from "./process-contender.ts";

/**
 * Our kernels, at the fastest variant and axes here, against one thread of the processor. All are timed alike: inputs
 * are where the contender computes, `runs` runs are done back to back, and the last outputs end in host memory.
 * Compiling and choosing are not timed.
 */
export function benchAgents(cases: readonly { readonly name: string; readonly input: StreamCase }[]): Bench {
  return async function* run(context) {
    const { device, environment } = await openAdapter();
    const contender = (module: URL) => inProcess<StreamCase>(module, environment);
    yield* runContest<StreamCase>(
      {
        metrics: { time: { unit: "ms", better: "lower" } },
        cases,
        device,
        ours: contender(new URL("./kernel-contest/ours.ts", import.meta.url)),
        peers: {
          "typed-arrays": contender(new URL("./agents/typed-arrays.ts", import.meta.url)),
          assemblyscript: contender(new URL("./agents/assemblyscript.ts", import.meta.url)),
        },
        check: checkAgainstReference,
      },
      context,
    );
  };
}
