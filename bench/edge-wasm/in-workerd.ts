import { createEdgeProbe } from "../../src/gpu-runner/link/edge-probe.ts";
import { readCredential } from "../../src/gpu-runner/link/registration.ts";
import type { EdgeVariant } from "../../src/protocol/models/edge-place.ts";
import { typedView } from "../../src/protocol/wire/tensor.ts";
import { median } from "../../src/stats/distribution/summary.ts";
import type { Contender, Entry } from "../contest.ts";
import type { Stack } from "../hop/start-stack.ts";
import { type MlpCase, nameModel, SEED, writeModel } from "./mlp-case.ts";
import { runsOf } from "./runs-of.ts";

const VARIANTS: Record<MlpCase["precision"], EdgeVariant> = { fp32: "fp32", int8: "edge-int8" };
/** Requests of each kind in a round. */
const REQUESTS = 15;

/**
 * The network in the Worker itself, timed from outside: the extra time of requests that compute it many times over
 * those that compute it once, divided by the extra count.
 */
export function inWorkerd(stack: Stack): Contender<MlpCase> {
  return async (input) => {
    const credential = await readCredential(stack.runnerFolder);
    if (credential === null) throw new Error("the runner is not registered");
    const probe = createEdgeProbe(credential);
    const modelVersionId = await stack.place(nameModel(input), writeModel(input), "edge-wasm");
    const signal = new AbortController().signal;
    const run = (repetitions: number) =>
      probe.run({ modelVersionId, variant: VARIANTS[input.precision], seed: SEED, repetitions }, signal);
    const { outputs } = await run(1);
    return {
      opened: { output: typedView(outputs[0]!) as Float32Array, adapter: null },
      measure: async () => ({ time: await timeOnce(run, runsOf(input)) }),
      close: async () => {},
    } satisfies Entry;
  };
}

async function timeOnce(run: (repetitions: number) => Promise<{ durationMs: number }>, repetitions: number) {
  const [once, often]: [number[], number[]] = [[], []];
  for (let i = 0; i < REQUESTS; i++) {
    once.push((await run(1)).durationMs);
    often.push((await run(repetitions)).durationMs);
  }
  return (median(often) - median(once)) / (repetitions - 1);
}
