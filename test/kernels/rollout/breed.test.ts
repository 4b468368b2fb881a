import { beforeAll, describe, expect, test } from "vitest";
import { breedMember, type Breeding } from "../../../kernels/rollout/breed.reference.ts";
import { cartpole } from "../../../kernels/environments/cartpole/cartpole.environment.ts";
import { seededUniform } from "../../../kernels/seeded-uniform.ts";
import { openCpuPopulation } from "../../../src/gpu-runner/rollout/cpu/open-cpu-population.ts";
import type { PolicyNetwork } from "../../../src/protocol/models/policy-network.ts";
import { runApart } from "./run-apart.ts";

describe("a generation on a device", () => {
  let lines: readonly unknown[] = [];

  beforeAll(async () => {
    lines = await runApart("run-breed.ts");
  });

  test("is that of the reference, elites to the bit", () => {
    const { error, changedElites } = lines[0] as Record<"error" | "changedElites", number>;
    expect(changedElites).toBe(0);
    // Half a unit in the last place of a sum below 4, and of noise below 6 that counts by half: its own 2e-6.
    expect(error).toBeLessThan(2e-6);
  });

  test("is the same to the bit for any workgroup, and where its members stand in parts", () => {
    expect(lines.slice(1, 4)).toEqual([
      { lanes: 64, parts: 1, same: true },
      { lanes: 16, parts: 1, same: true },
      { lanes: 256, parts: 3, same: true },
    ]);
  });

  test("leaves nothing on the device", () => {
    expect(lines[4]).toEqual({ liveBytes: 0 });
  });
});

test("a generation on the CPU is that of the reference, whatever the threads", async () => {
  // Not a whole number of groups of sixteen.
  const network: PolicyNetwork = { kind: "mlp", hidden: [5], activation: "tanh", outputActivation: "none" };
  const members = 37;
  const parents = Uint32Array.from({ length: 2 * members }, (_, index) => (index * 7919) % members);
  const breeding = { seed: 0xdeadbeef, generation: 3, parents, elites: 5, rate: 0.3, sigma: 0.5 };
  const bred: Float32Array[] = [];
  for (const threads of [1, 3]) {
    const population = await openCpuPopulation({ environment: cartpole, network, members, threads });
    const { parameters } = population;
    const rows = seededUniform(1, 0, members * parameters);
    const rowOf = (member: number) => rows.subarray(member * parameters, (member + 1) * parameters);
    await population.write(0, rows);
    await population.breed(breeding);
    const children = await population.read(0, members);
    await population.release();
    for (let member = 0; member < members; member++) {
      const expected = breedMember(breeding, member, rowOf);
      const actual = children.subarray(member * parameters, (member + 1) * parameters);
      if (member < breeding.elites) expect([...actual]).toEqual([...expected]);
      for (const [at, number] of expected.entries()) expect(Math.abs(actual[at]! - number)).toBeLessThan(2e-6);
    }
    bred.push(children);
  }
  expect(bred[1]).toEqual(bred[0]);
});

describe("a child", () => {
  const rows = [0, 1, 2].map((value) => new Float32Array(401).fill(value));
  const parents = Uint32Array.of(1, 1, 2, 2, 0, 1);
  const breed = (member: number, changes: Partial<Breeding> = {}) => {
    const breeding = { seed: 1, generation: 1, parents, elites: 1, rate: 0, sigma: 1, ...changes };
    return [...breedMember(breeding, member, (parent) => rows[parent]!)];
  };
  const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

  test("has half of its numbers of either parent", () => {
    expect(new Set(breed(2))).toEqual(new Set([0, 1]));
    expect(meanOf(breed(2))).toBeCloseTo(0.5, 1);
    expect(new Set(breed(1))).toEqual(new Set([2]));
  });

  test("is mutated at the rate, by a normal distribution, unless it is an elite", () => {
    const moved = breed(1, { rate: 0.25, sigma: 3 }).filter((value) => value !== 2);
    expect(moved.length / 401).toBeCloseTo(0.25, 1);
    const all = breed(1, { rate: 1, sigma: 3 }).map((value) => (value - 2) / 3);
    expect(Math.abs(meanOf(all))).toBeLessThan(0.15);
    expect(meanOf(all.map((value) => value ** 2))).toBeCloseTo(1, 0);
    expect(new Set(breed(0, { rate: 1 }))).toEqual(new Set([1]));
  });

  test("is another one of another seed, generation or number", () => {
    const mutated = { rate: 1 } as const;
    const one = breed(1, mutated);
    for (const changes of [{ seed: 2 }, { generation: 2 }])
      expect(breed(1, { ...mutated, ...changes })).not.toEqual(one);
    const noiseOf = (member: number) => breed(member, { ...mutated, parents: new Uint32Array(6) });
    expect(noiseOf(1)).not.toEqual(noiseOf(2));
  });
});
