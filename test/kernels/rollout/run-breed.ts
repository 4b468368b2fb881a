/** Breeds generations on this machine's device, and prints their differences from the reference. */
import { cartpole } from "../../../kernels/environments/cartpole/cartpole.environment.ts";
import { breedMember } from "../../../kernels/rollout/breed.reference.ts";
import { seededUniform } from "../../../kernels/seeded-uniform.ts";
import { BufferPool } from "../../../src/gpu-runner/devices/gpu/buffer-pool.ts";
import { openGpu } from "../../../src/gpu-runner/devices/gpu/device.ts";
import { readBuffer } from "../../../src/gpu-runner/devices/gpu/readback.ts";
import { BreedPass } from "../../../src/gpu-runner/rollout/gpu/breed-pass.ts";
import { storageUsage } from "../../../src/gpu-runner/rollout/gpu/rollout-program.ts";
import { openGpuPopulation } from "../../../src/gpu-runner/rollout/gpu/open-gpu-population.ts";
import { PolicyNetwork } from "../../../src/protocol/models/policy-network.ts";

const gpu = await openGpu((reason) => console.error(reason));
const { device } = gpu;
const pool = new BufferPool(device);
const network = PolicyNetwork.parse({ kind: "mlp", hidden: [8] });
const members = 333;
const population = await openGpuPopulation({ device, pool }, { environment: cartpole, network, members });
const { parameters } = population;
const rows = Float32Array.from(seededUniform(1, 0, members * parameters));
const rowOf = (member: number) => rows.subarray(member * parameters, (member + 1) * parameters);
const parents = Uint32Array.from({ length: 2 * members }, (_, index) => (index * 7919) % members);
const breeding = { seed: 0xdeadbeef, generation: 3, parents, elites: 5, rate: 0.3, sigma: 0.5 };

await population.write(0, rows);
await population.breed(breeding);
const children = await population.read(0, members);
let error = 0;
let changed = 0;
for (let member = 0; member < members; member++) {
  for (const [parameter, expected] of breedMember(breeding, member, rowOf).entries()) {
    error = Math.max(error, Math.abs(children[member * parameters + parameter]! - expected));
    if (member < breeding.elites && children[member * parameters + parameter] !== expected) changed++;
  }
}
console.log(JSON.stringify({ error, changedElites: changed }));
await population.release();

/** The same generation by workgroups of this many lanes, with the population in parts that end here. */
async function breedInParts(lanes: number, ends: readonly number[]): Promise<Float32Array> {
  const parts = ends.map((end, index) => ({ first: ends[index - 1] ?? 0, count: end - (ends[index - 1] ?? 0) }));
  const uploaded = parts.map((part) => {
    const weights = pool.acquire(4 * parameters * part.count, storageUsage());
    const columns = Float32Array.from({ length: parameters * part.count }, (_, at) => {
      return rowOf(part.first + (at % part.count))[Math.floor(at / part.count)]!;
    });
    device.queue.writeBuffer(weights, 0, columns);
    return { ...part, weights };
  });
  const bred = await new BreedPass({ device, pool }, lanes).breed(uploaded, breeding, parameters);
  const whole = new Float32Array(members * parameters);
  for (const [index, { first, count, weights }] of uploaded.entries()) {
    const columns = new Float32Array(await readBuffer(device, pool, bred[index]!, 4 * parameters * count));
    for (const [at, value] of columns.entries())
      whole[(first + (at % count)) * parameters + Math.floor(at / count)] = value;
    pool.release(weights);
    pool.release(bred[index]!);
  }
  return whole;
}

for (const [lanes, ends] of [
  [64, [members]],
  [16, [members]],
  [256, [64, 200, members]],
] as const) {
  const again = await breedInParts(lanes, ends);
  console.log(JSON.stringify({ lanes, parts: ends.length, same: again.every((value, at) => value === children[at]) }));
}
console.log(JSON.stringify({ liveBytes: pool.counters.liveBytes }));
gpu.device.destroy();
