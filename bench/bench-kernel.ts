import type { Bench } from "./benches.ts";
import { checkAgainstReference } from "./check-against-reference.ts";
import { runContest } from "./contest.ts";
import { installPeers } from "./install-peers.ts";
import type { KernelCase } from "./kernel-contest/kernel-case.ts";
import { openAdapter } from "./open-adapter.ts";
import { inProcess } from "./process-contender.ts";

const OURS = new URL("./kernel-contest/ours.ts", import.meta.url);
const PEERS = {
  "tfjs-webgpu": new URL("./kernel-contest/tfjs-webgpu.ts", import.meta.url),
  "ort-webgpu": new URL("./kernel-contest/ort-webgpu.ts", import.meta.url),
  "ort-cpu": new URL("./kernel-contest/ort-cpu.ts", import.meta.url),
  "tfjs-wasm": new URL("./kernel-contest/tfjs-wasm.ts", import.meta.url),
} as const;

/**
 * Our tuned kernel against WebGPU peers on the same adapter, and against the processor. Each case's `mode` defines a
 * round; compiling, choosing and loading weights are not timed.
 */
export function benchKernel(cases: readonly { readonly name: string; readonly input: KernelCase }[]): Bench {
  return async function* run(context) {
    await installPeers(context.say);
    const { device, environment } = await openAdapter();
    const contender = (module: URL) => inProcess<KernelCase>(module, environment);
    yield* runContest<KernelCase>(
      {
        metrics: { time: { unit: "ms", better: "lower" } },
        cases,
        device,
        ours: contender(OURS),
        peers: Object.fromEntries(Object.entries(PEERS).map(([name, module]) => [name, contender(module)])),
        check: checkAgainstReference,
      },
      context,
    );
  };
}
