import { checkOutput } from "../src/gpu-runner/gpu/check-output.ts";
import { type AgentCase, referencesOf } from "./agents/agent-case.ts";
import type { Bench } from "./benches.ts";
import { runContest } from "./contest.ts";
import { SEED, specOf } from "./kernel-at-shape.ts";
import { openAdapter } from "./open-adapter.ts";
import { inProcess } from "./process-contender.ts";

/**
 * Our kernels, at the variant and axes that are fastest here, against one thread of the processor. Timed is
 * the same for all: inputs lie where the contender computes, `runs` runs are done back to back and the last
 * outputs are in host memory at the end. Compiling and choosing come before.
 */
export function benchAgents(cases: readonly { readonly name: string; readonly input: AgentCase }[]): Bench {
  return async function* run(context) {
    const { device, environment } = await openAdapter();
    const contender = (module: URL) => inProcess<AgentCase>(module, environment);
    yield* runContest<AgentCase>(
      {
        metrics: { time: { unit: "ms", better: "lower" } },
        cases,
        device,
        ours: contender(new URL("./agents/ours.ts", import.meta.url)),
        peers: {
          "typed-arrays": contender(new URL("./agents/typed-arrays.ts", import.meta.url)),
          assemblyscript: contender(new URL("./agents/assemblyscript.ts", import.meta.url)),
        },
        check: checkJoined,
      },
      context,
    );
  };
}

/** Every output by the kernel's own reference and tolerance, whoever computed it. */
async function checkJoined(input: AgentCase, joined: Float32Array): Promise<void> {
  const { tolerance } = specOf(input);
  let offset = 0;
  for (const reference of referencesOf(input)) {
    const output = joined.slice(offset, (offset += reference.length));
    await checkOutput(output, reference, tolerance, input.shape, SEED, () => {});
  }
}
