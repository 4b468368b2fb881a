import { breedMember } from "../../../../kernels/rollout/breed.reference.ts";
import type { NoiseKey } from "../../../../kernels/rollout/noise.reference.ts";
import { CAUSES } from "../../../../kernels/rollout/roll-out.reference.ts";
import type { EpisodePlan, Population } from "../../../../src/gpu-runner/rollout/population.ts";
import { createDraws, toUniform } from "../../../../src/stats/random/draws.ts";
import { normalQuantile } from "../../../../src/stats/distribution/normal.ts";

/** A return of one episode by a member's row; NaN fails. `episode` counts from the start of the seed's. */
export type Score = (row: Float32Array<ArrayBuffer>, episode: number, member: number) => number;

/** A population in typed arrays whose episodes are one call of `score`; `plans` are those that were asked for. */
export function createArrayPopulation(members: number, parameters: number, score: Score) {
  const rows = new Float32Array(members * parameters);
  const plans: EpisodePlan[] = [];
  const rowOf = (member: number) => rows.subarray(member * parameters, (member + 1) * parameters);
  const population: Population = {
    backend: "cpu-simd",
    members,
    parameters,
    write: async (first, values) => rows.set(values, first * parameters),
    read: async (first, count) => rows.slice(first * parameters, (first + count) * parameters),
    perturb: async ({ mean, sigma, ...key }) => {
      for (let member = 0; member < members; member++) {
        const noise = drawNoise(key, member, parameters);
        rowOf(member).set(noise.map((z, index) => mean[index]! + sigma[index]! * z));
      }
    },
    recombine: async ({ utilities, squares, ...key }) => {
      const sums = new Float32Array(parameters);
      const squared = new Float32Array(parameters);
      for (let member = 0; member < members; member++) {
        for (const [index, z] of drawNoise(key, member, parameters).entries()) {
          sums[index]! += utilities[member]! * z;
          squared[index]! += utilities[member]! * z * z;
        }
      }
      return { sums, squares: squares ? squared : null };
    },
    breed: async (breeding) => {
      const before = rows.slice();
      const parentOf = (member: number) => before.subarray(member * parameters, (member + 1) * parameters);
      for (let member = 0; member < members; member++) rowOf(member).set(breedMember(breeding, member, parentOf));
    },
    evaluate: async (plan) => {
      plans.push(plan);
      const returns = new Float32Array(members * plan.episodes);
      for (let slot = 0; slot < returns.length; slot++) {
        const member = Math.floor(slot / plan.episodes);
        returns[slot] = score(rowOf(member), plan.firstEpisode + (slot % plan.episodes), member);
      }
      return {
        returns,
        lengths: new Uint32Array(returns.length).fill(1),
        causes: Uint8Array.from(returns, (value) => (Number.isNaN(value) ? CAUSES.failed : CAUSES.terminated)),
        measures: new Float32Array(0),
        unsound: new Uint8Array(members),
        waves: 1,
      };
    },
    release: async () => undefined,
  };
  return { population, plans };
}

function drawNoise({ seed, generation, mirrored }: NoiseKey, member: number, parameters: number): Float64Array {
  const drawn = mirrored ? member - (member % 2) : member;
  const draws = createDraws({ seed, stream: 2, member: drawn, episode: generation, step: 0 });
  const sign = drawn === member ? 1 : -1;
  return Float64Array.from({ length: parameters }, () => {
    return sign * normalQuantile(toUniform(draws.words()[0]) + 2 ** -25);
  });
}
