import { isSoftwareAdapter } from "../gpu/adapter-name.ts";
import type { Network } from "./network.ts";
import type { Layout } from "./schedule-operators.ts";

/** All in one dispatch; what is large spread over workgroups; everything spread. */
const SPREADS = [Number.POSITIVE_INFINITY, 30_000, 0];
const LANES = [64, 256];
/** An emulation computes four lanes at a time, and compiles slowly: with more, barriers cost it switches between fours. */
const SOFTWARE_LANES = [4];
const RUNS = 4;

/** Tries the ways to spread a network over a device by one row, and gives the fastest: devices differ too much to know. */
export async function chooseLayout(network: Network, { limits, adapterInfo }: GPUDevice): Promise<Layout> {
  const isSoftware = isSoftwareAdapter(`${adapterInfo.architecture} ${adapterInfo.device} ${adapterInfo.description}`);
  const lanes = (isSoftware ? SOFTWARE_LANES : LANES).filter(
    (each) => each <= limits.maxComputeInvocationsPerWorkgroup,
  );
  const layouts = lanes.flatMap((each) => SPREADS.map((spreadFrom) => ({ lanes: each, spreadFrom })));
  const tried: { readonly layout: Layout; readonly ms: number }[] = [];
  const seen = new Set<string>();
  for (const layout of layouts) {
    await network.spread(layout);
    const key = `${layout.lanes} ${network.shape}`;
    if (seen.has(key)) continue;
    seen.add(key);
    tried.push({ layout, ms: await timeRuns(network) });
  }
  return tried.reduce((best, each) => (each.ms < best.ms ? each : best)).layout;
}

/** Milliseconds of the fastest of some runs; the first one warms the device up and does not count. */
async function timeRuns(network: Network): Promise<number> {
  const inputs = network.zeros(1);
  await network.run(inputs);
  let fastest = Number.POSITIVE_INFINITY;
  for (let run = 0; run < RUNS; run++) {
    const startedAt = performance.now();
    await network.run(inputs);
    fastest = Math.min(fastest, performance.now() - startedAt);
  }
  return fastest;
}
