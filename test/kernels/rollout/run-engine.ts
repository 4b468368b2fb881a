/**
 * Evaluates populations under many settings on this machine's device, and prints which results are equal as a line of
 * JSON.
 */
import { isDeepStrictEqual } from "node:util";
import type { EnvironmentSpec } from "../../../kernels/environments/environment-spec.ts";
import { cartpole } from "../../../kernels/environments/cartpole/cartpole.environment.ts";
import { openEnvironment } from "../../../src/gpu-runner/environments/environment-source.ts";
import { seededUniform } from "../../../kernels/seeded-uniform.ts";
import { BufferPool } from "../../../src/gpu-runner/devices/gpu/buffer-pool.ts";
import { openGpu } from "../../../src/gpu-runner/devices/gpu/device.ts";
import { openGpuPopulation } from "../../../src/gpu-runner/rollout/gpu/open-gpu-population.ts";
import type { EpisodePlan, EpisodeResults } from "../../../src/gpu-runner/rollout/population.ts";
import { PolicyNetwork } from "../../../src/protocol/models/policy-network.ts";
import { counter } from "./counter.ts";

const gpu = await openGpu((reason) => console.error(reason));
const { device } = gpu;
const pool = new BufferPool(device);
const say = (line: object) => console.log(JSON.stringify(line));
const SHARED = { seed: 5, firstEpisode: 3, episodes: 3, commonRandom: false };

type Settings = Parameters<typeof openGpuPopulation>[1]["settings"];
interface Case {
  readonly environment: EnvironmentSpec;
  readonly network: PolicyNetwork;
  readonly weights: Float32Array<ArrayBuffer>;
  readonly members: number;
}

const open = ({ weights, ...request }: Case, settings?: Settings, from = pool) =>
  openGpuPopulation({ device, pool: from }, { ...request, ...(settings && { settings }) }).then(async (population) => {
    await population.write(0, weights);
    return population;
  });

async function evaluate(
  given: Case,
  settings?: Settings,
  plan: EpisodePlan = SHARED,
  from = pool,
): Promise<EpisodeResults> {
  const population = await open(given, settings, from);
  const results = await population.evaluate(plan);
  await population.release();
  return results;
}

const members = 150;
const network = PolicyNetwork.parse({ kind: "mlp", hidden: [8] });
const parameters = 4 * 8 + 8 + 8 * 2 + 2;
const poles: Case = {
  environment: cartpole,
  network,
  members,
  weights: Float32Array.from(seededUniform(3, 0, members * parameters)),
};

// However it is dispatched, parted and batched.
const whole = await open(poles, { lanes: 64, steps: 100 });
const { waves: _, ...expected } = await whole.evaluate(SHARED);
const small = new BufferPool(device, undefined, 2 ** 26);
for (const [settings, from] of [
  [undefined, pool],
  [{ lanes: 256, steps: 1 }, pool],
  [{ lanes: 1, steps: 7, room: { bindingBytes: 4 * parameters * 64 } }, pool],
  [{ room: { totalBytes: 2 * 64 * 40 * 2 } }, small],
] as const) {
  const { waves, ...results } = await evaluate(poles, settings, SHARED, from);
  say({ same: isDeepStrictEqual(results, expected), waves });
}
// A batch of some members and episodes is a part of the whole.
const one = await whole.evaluate({ ...SHARED, firstEpisode: 4, episodes: 1 });
say({ oneEpisode: one.returns.every((each, member) => each === expected.returns[3 * member + 1]) });

// A watch receives the progress, and may end the evaluation.
const told: number[] = [];
await whole.evaluate(SHARED, { onProgress: (done, total) => told.push(done / total) });
say({ rises: told.every((share, at) => share >= (told[at - 1] ?? 0)), last: told.at(-1), more: told.length > 2 });
const abort = new AbortController();
const ending = whole.evaluate(SHARED, { signal: abort.signal, onProgress: () => abort.abort() });
say({
  code: await ending.then(
    () => null,
    (error) => error.problem.code,
  ),
});

// Members that are not to be believed.
const spoil = (member: number, parameter: number, weight: number) =>
  whole.write(
    member,
    poles.weights.slice(member * parameters, (member + 1) * parameters).fill(weight, parameter, parameter + 1),
  );
await spoil(10, 3, Number.NaN);
await spoil(20, parameters - 1, Number.NEGATIVE_INFINITY);
const failed = await whole.evaluate(SHARED);
const others = expected.returns.every(
  (value, at) => [10, 20].includes(Math.floor(at / 3)) || value === failed.returns[at],
);
const causesOf = (member: number) => [...failed.causes.subarray(3 * member, 3 * member + 3)];
const unsound = [...failed.unsound.keys()].filter((member) => failed.unsound[member] === 1);
say({ unsound, others, causes: [causesOf(10), causesOf(20)], lengths: [...failed.lengths.subarray(30, 33)] });
const none = await whole.evaluate({ ...SHARED, episodes: 0 });
say({ none: none.returns.length, unsound: none.unsound.reduce((sum, each) => sum + each, 0) });
await whole.release();

// Ends of episodes, in an environment that is controlled by its policy.
const count = (rows: readonly number[], stepLimit = 10): Case => ({
  environment: { ...openEnvironment({ id: "env_x", digest: "", definition: counter }), stepLimit },
  network: PolicyNetwork.parse({ kind: "mlp", hidden: [] }),
  members: rows.length,
  // One input, of zero weight, and one output: the bias is the action.
  weights: Float32Array.from(rows.flatMap((action) => [0, action])),
});
const single = { ...SHARED, episodes: 1 };
// 0 goes on, 3 and 10 end the episode at that step, 300 makes the reward infinite; the last has an infinite output.
const ended = await evaluate(
  { ...count([0, 3, 10, 300, 0]), weights: Float32Array.of(0, 0, 0, 3, 0, 10, 0, 300, 3e38, 3e38) },
  undefined,
  single,
);
say({
  returns: [...ended.returns],
  lengths: [...ended.lengths],
  causes: [...ended.causes],
  measures: [...ended.measures],
});
const atOnce = await evaluate(count([0, 1], 1), undefined, single);
say({ returns: [...atOnce.returns], lengths: [...atOnce.lengths], causes: [...atOnce.causes] });

say({ liveBytes: pool.counters.liveBytes });
gpu.device.destroy();
