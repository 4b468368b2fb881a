import { checkOutput } from "../src/gpu-runner/gpu/check-output.ts";
import type { Bench } from "./benches.ts";
import { runContest } from "./contest.ts";
import { installPeers } from "./install-peers.ts";
import { inputsOf, type KernelCase, SEED, specOf } from "./kernel-contest/kernel-case.ts";
import { openAdapter } from "./open-adapter.ts";
import { inProcess } from "./process-contender.ts";

const PEERS = ["tfjs-webgpu", "ort-webgpu", "ort-cpu", "tfjs-wasm"];

/**
 * Our kernel, at the variant and axes that are fastest here, against WebGPU peers on the same adapter
 * and against what the processor does without one. What a round is stands in each case's `mode`;
 * compiling, choosing and bringing weights come before.
 */
export function benchKernel(cases: readonly { readonly name: string; readonly input: KernelCase }[]): Bench {
  return async function* run(context) {
    await installPeers(context.say);
    const { device, environment } = await openAdapter();
    const contender = (name: string) =>
      inProcess<KernelCase>(new URL(`./kernel-contest/${name}.ts`, import.meta.url), environment);
    yield* runContest<KernelCase>(
      {
        metrics: { time: { unit: "ms", better: "lower" } },
        cases,
        device,
        ours: contender("ours"),
        peers: Object.fromEntries(PEERS.map((name) => [name, contender(name)])),
        check: checkAgainstReference,
      },
      context,
    );
  };
}

/** By the kernel's own f64 reference and tolerance, whoever computed it. */
async function checkAgainstReference(input: KernelCase, output: Float32Array): Promise<void> {
  const spec = specOf(input);
  const reference = spec.reference(inputsOf(input), input.shape);
  if (output.length !== reference.length) {
    throw new RangeError(`it has ${output.length} elements, not ${reference.length}`);
  }
  await checkOutput(output as Float32Array<ArrayBuffer>, reference, spec.tolerance, input.shape, SEED, () => {});
}
