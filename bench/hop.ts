import { cpus } from "node:os";
import { seededUniform } from "../kernels/seeded-uniform.ts";
import type { Bench } from "./benches.ts";
import { runContest } from "./contest.ts";
import type { HopCase } from "./hop/hop-case.ts";
import { openPlainHttp } from "./hop/open-plain-http.ts";
import { startStack } from "./hop/start-stack.ts";

/** Floats in the payload, which goes out and comes back. */
const CASES = [
  { name: "1 KB", elements: 256 },
  { name: "100 KB", elements: 25_600 },
];

const MS = { unit: "ms", better: "lower" } as const;
const OURS_ONLY = { ...MS, oursOnly: true } as const;

/**
 * One inference after the other over one kept connection, in raw frames, as a client sees it: through
 * the edge to a runner's process and its device's process, and to a bare Node server that holds the
 * same backend. The network does next to nothing (Neg), so what differs is the way. The parts of ours
 * are means over a round, since the edge's clock has steps of 1 ms: only the mean of many tells more.
 */
export const benchHop: Bench = async function* benchHop(context) {
  const stack = await startStack((text) => context.say(`${context.bench}: ${text}`));
  try {
    yield* runContest<HopCase>(
      {
        metrics: {
          p50: MS,
          p99: MS,
          "mean in client and socket": OURS_ONLY,
          "mean in edge": OURS_ONLY,
          "mean in link": OURS_ONLY,
          "mean in queue": OURS_ONLY,
          "mean in upload": OURS_ONLY,
          "mean in compute": OURS_ONLY,
          "mean in readback": OURS_ONLY,
        },
        cases: CASES.map(({ name, elements }) => ({ name, input: { values: seededUniform(1, 0, elements) } })),
        device: { name: cpus()[0]?.model.trim() ?? "unknown", software: false },
        ours: stack.open,
        peers: { "plain-http": openPlainHttp },
        check: checkNegated,
      },
      context,
    );
  } finally {
    await stack.stop();
  }
};

/** Negation is exact. */
function checkNegated({ values }: HopCase, output: Float32Array): void {
  if (output.length !== values.length) throw new Error(`it has ${output.length} elements, not ${values.length}`);
  const wrong = values.findIndex((value, index) => output[index] !== -value);
  if (wrong >= 0) throw new Error(`element ${wrong} is ${output[wrong]}, not ${-(values[wrong] ?? 0)}`);
}
