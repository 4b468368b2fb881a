import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { breedMember } from "../../../../kernels/rollout/breed.reference.ts";
import { cartpole } from "../../../../kernels/environments/cartpole/cartpole.environment.ts";
import { environmentNamed } from "../../../../kernels/environments/registry.ts";
import { perturbMember, recombineMembers } from "../../../../kernels/rollout/noise.reference.ts";
import { countParameters } from "../../../../kernels/rollout/policy-layout.ts";
import { CAUSES, rollOut } from "../../../../kernels/rollout/roll-out.reference.ts";
import { seededUniform } from "../../../../kernels/seeded-uniform.ts";
import { openCpuPopulation } from "../../../../src/gpu-runner/rollout/cpu/open-cpu-population.ts";
import type { EpisodePlan, EpisodeResults, Population } from "../../../../src/gpu-runner/rollout/population.ts";
import { PolicyNetwork } from "../../../../src/protocol/models/policy-network.ts";

const NETWORK = PolicyNetwork.parse({ kind: "mlp", hidden: [9, 3], activation: "tanh" });
const MEMBERS = 67;
const PARAMETERS = countParameters(NETWORK, cartpole);
const ROWS = Float32Array.from(seededUniform(3, 0, MEMBERS * PARAMETERS));
const PLAN: EpisodePlan = { seed: 7, firstEpisode: 2, episodes: 5, commonRandom: false };

async function evaluate(rows: Float32Array<ArrayBuffer>, threads: number, plan = PLAN): Promise<EpisodeResults> {
  const members = rows.length / PARAMETERS;
  const population = await openCpuPopulation({ environment: cartpole, network: NETWORK, members, threads });
  try {
    await population.write(0, rows);
    return await population.evaluate(plan);
  } finally {
    await population.release();
  }
}

const rowOf = (member: number) => ROWS.slice(member * PARAMETERS, (member + 1) * PARAMETERS);

describe("a population on the CPU", () => {
  test("has the episodes of the reference, the same for any number of threads", async () => {
    const [one, three] = await Promise.all([evaluate(ROWS, 1), evaluate(ROWS, 3)]);
    expect(three).toEqual(one);
    const right = Array.from({ length: MEMBERS * PLAN.episodes }, (_, slot) => {
      const member = Math.floor(slot / PLAN.episodes);
      const key = { ...PLAN, member, episode: PLAN.firstEpisode + (slot % PLAN.episodes) };
      const { total, length, cause } = rollOut(cartpole, NETWORK, rowOf(member), key);
      return one.returns[slot] === total && one.lengths[slot] === length && one.causes[slot] === cause;
    });
    // Rounding may tip a close decision once in a while.
    expect(right.filter(Boolean).length).toBeGreaterThan(0.97 * right.length);
  });

  test("an episode is the same with any episodes in the other lanes", async () => {
    const plan = { ...PLAN, commonRandom: true };
    const all = await evaluate(ROWS, 2, plan);
    for (const member of [0, 41, 66]) {
      const alone = await evaluate(rowOf(member), 1, plan);
      const at = member * plan.episodes;
      expect(all.lengths.subarray(at, at + plan.episodes)).toEqual(alone.lengths);
      expect(all.returns.subarray(at, at + plan.episodes)).toEqual(alone.returns);
      const last = await evaluate(rowOf(member), 1, { ...plan, firstEpisode: 6, episodes: 1 });
      expect(all.lengths[at + 4]).toBe(last.lengths[0]);
    }
  });

  test("a member with a weight that is no number fails by itself", async () => {
    const rows = ROWS.slice();
    rows[3 * PARAMETERS + 17] = Number.NaN;
    rows[9 * PARAMETERS + PARAMETERS - 1] = Number.POSITIVE_INFINITY;
    const [right, spoilt] = await Promise.all([evaluate(ROWS, 2), evaluate(rows, 2)]);
    expect([...spoilt.unsound.keys()].filter((member) => spoilt.unsound[member] === 1)).toEqual([3, 9]);
    for (let slot = 0; slot < spoilt.lengths.length; slot++) {
      const isBad = [3, 9].includes(Math.floor(slot / PLAN.episodes));
      expect(spoilt.causes[slot]).toBe(isBad ? CAUSES.failed : right.causes[slot]);
      expect(spoilt.lengths[slot]).toBe(isBad ? 0 : right.lengths[slot]);
    }
  });

  test("with no episodes it has no results, and an abort ends it", async () => {
    expect((await evaluate(ROWS, 2, { ...PLAN, episodes: 0 })).lengths).toHaveLength(0);
    const population = await openCpuPopulation({ environment: cartpole, network: NETWORK, members: 4 });
    const evaluation = population.evaluate(PLAN, { signal: AbortSignal.abort() });
    await expect(evaluation).rejects.toMatchObject({ problem: { code: "cancelled" } });
    await population.release();
  });

  test("an environment without a twin is refused", async () => {
    const { assembly: _, ...environment } = cartpole;
    const opening = openCpuPopulation({ environment, network: NETWORK, members: 4 });
    await expect(opening).rejects.toMatchObject({ problem: { code: "backend-failed" } });
  });

  test("larger than the memory it may have, it is refused", async () => {
    const opening = openCpuPopulation({ environment: cartpole, network: NETWORK, members: 2 ** 26 });
    await expect(opening).rejects.toMatchObject({ problem: { code: "out-of-memory" } });
  });

  test("leaving out inputs that are zero changes nothing", async () => {
    const breakout = environmentNamed("breakout");
    const network = PolicyNetwork.parse({ kind: "mlp", hidden: [6] });
    const members = 9;
    const parameters = countParameters(network, breakout);
    const rows = Float32Array.from(seededUniform(5, 0, members * parameters));
    const population = await openCpuPopulation({ environment: breakout, network, members });
    await population.write(0, rows);
    const { returns, lengths } = await population.evaluate({ ...PLAN, episodes: 3 });
    await population.release();
    for (let slot = 0; slot < members * 3; slot++) {
      const member = Math.floor(slot / 3);
      const key = { ...PLAN, member, episode: PLAN.firstEpisode + (slot % 3) };
      const row = rows.subarray(member * parameters, (member + 1) * parameters);
      expect([returns[slot], lengths[slot]]).toEqual(
        (({ total, length }) => [total, length])(rollOut(breakout, network, row, key)),
      );
    }
  });
});

describe("noise on the CPU", () => {
  let population: Population;
  beforeAll(async () => {
    population = await openCpuPopulation({ environment: cartpole, network: NETWORK, members: MEMBERS, threads: 2 });
  });
  afterAll(() => population.release());
  const mean = Float32Array.from({ length: PARAMETERS }, (_, parameter) => parameter / 10);
  const sigma = Float32Array.from({ length: PARAMETERS }, (_, parameter) => 0.1 + 0.01 * parameter);
  const utilities = Float32Array.from({ length: MEMBERS }, (_, member) => (member % 17) / 17 - 0.5);

  test.each([false, true])("members and sums are those of the reference, mirrored: %s", async (mirrored) => {
    const key = { seed: 0xdeadbeef, generation: 7, mirrored };
    await population.perturb({ ...key, mean, sigma });
    const rows = await population.read(0, MEMBERS);
    for (let member = 0; member < MEMBERS; member++) {
      const row = rows.subarray(member * PARAMETERS, (member + 1) * PARAMETERS);
      expect(farthest(row, perturbMember(key, member, { mean, sigma }))).toBeLessThan(2e-5);
    }
    const { sums, squares } = await population.recombine({ ...key, utilities, squares: true });
    const expected = recombineMembers(key, utilities, PARAMETERS);
    expect(farthest(sums, expected.sums)).toBeLessThan(5e-5);
    expect(farthest(squares!, expected.squares)).toBeLessThan(5e-5);
  });

  test("children are those of the reference", async () => {
    await population.write(0, ROWS);
    const parents = Uint32Array.from({ length: 2 * MEMBERS }, (_, index) => (index * 29) % MEMBERS);
    const breeding = { seed: 5, generation: 3, parents, elites: 2, rate: 0.3, sigma: 0.2 };
    await population.breed(breeding);
    const rows = await population.read(0, MEMBERS);
    for (let member = 0; member < MEMBERS; member++) {
      const row = rows.subarray(member * PARAMETERS, (member + 1) * PARAMETERS);
      expect(farthest(row, breedMember(breeding, member, rowOf))).toBeLessThan(1e-6);
    }
  });
});

function farthest(actual: ArrayLike<number>, expected: Float64Array): number {
  return expected.reduce((most, number, at) => Math.max(most, Math.abs(actual[at]! - number)), 0);
}
