/** Perturbs and recombines a population on this machine's device, and prints the differences from the reference. */
import { cartpole } from "../../../kernels/environments/cartpole/cartpole.environment.ts";
import { drawNoise, perturbMember, recombineMembers } from "../../../kernels/rollout/noise.reference.ts";
import { seededUniform } from "../../../kernels/seeded-uniform.ts";
import { BufferPool } from "../../../src/gpu-runner/devices/gpu/buffer-pool.ts";
import { openGpu } from "../../../src/gpu-runner/devices/gpu/device.ts";
import { PolicyNetwork } from "../../../src/protocol/models/policy-network.ts";
import { openGpuPopulation } from "../../../src/gpu-runner/rollout/gpu/open-gpu-population.ts";

const gpu = await openGpu((reason) => console.error(reason));
const { device } = gpu;
const pool = new BufferPool(device);
const network = PolicyNetwork.parse({ kind: "mlp", hidden: [8] });
const members = 333;
const population = await openGpuPopulation({ device, pool }, { environment: cartpole, network, members });
const { parameters } = population;

const rows = Float32Array.from(seededUniform(1, 0, 100 * parameters));
await population.write(77, rows);
console.log(JSON.stringify({ rowsKept: (await population.read(77, 100)).every((number, at) => number === rows[at]) }));

const mean = Float32Array.from({ length: parameters }, (_, parameter) => parameter / 10);
const sigma = Float32Array.from({ length: parameters }, (_, parameter) => 0.1 + 0.01 * parameter);
const utilities = Float32Array.from({ length: members }, (_, member) => (member % 17) / 17 - 0.5);
for (const mirrored of [false, true]) {
  const key = { seed: 0xdeadbeef, generation: 7, mirrored };
  await population.perturb({ ...key, mean, sigma });
  const perturbed = await population.read(0, members);
  let perturbError = 0;
  for (let member = 0; member < members; member++) {
    for (const [parameter, expected] of perturbMember(key, member, { mean, sigma }).entries()) {
      const error = Math.abs(perturbed[member * parameters + parameter]! - expected);
      perturbError = Math.max(perturbError, error / Math.max(1, Math.abs(expected)));
    }
  }
  const { sums, squares } = await population.recombine({ ...key, utilities, squares: true });
  const expected = recombineMembers(key, utilities, parameters);
  const farthest = (actual: Float32Array, right: Float64Array) =>
    right.reduce((most, number, at) => Math.max(most, Math.abs(actual[at]! - number)), 0);
  const sumError = farthest(sums, expected.sums);
  const squareError = farthest(squares!, expected.squares);
  const anchor = drawNoise(key, 3, 2);
  console.log(JSON.stringify({ mirrored, perturbError, sumError, squareError, anchor: [...anchor] }));
}
await population.release();
console.log(JSON.stringify({ liveBytes: pool.counters.liveBytes }));
gpu.device.destroy();
