import type { EnvironmentSpec } from "../../kernels/environments/environment-spec.ts";
import { perturbMember, recombineMembers } from "../../kernels/rollout/noise.reference.ts";
import type { Population } from "../../src/gpu-runner/rollout/population.ts";

/** Solutions in the host's memory, each scored by one step of the environment's f64 reference. */
export function openReferencePopulation(
  { reference, measures: width }: EnvironmentSpec,
  members: number,
  parameters: number,
): Population {
  const rows = new Float32Array(members * parameters);
  return {
    backend: "cpu-simd",
    members,
    parameters,
    write: async (first, values) => rows.set(values, first * parameters),
    read: async (first, count) => rows.slice(first * parameters, (first + count) * parameters),
    async perturb({ mean, sigma, ...key }) {
      for (let member = 0; member < members; member++) {
        rows.set(perturbMember(key, member, { mean, sigma }), member * parameters);
      }
    },
    async recombine({ utilities, squares, ...key }) {
      const sums = recombineMembers(key, utilities, parameters);
      return { sums: Float32Array.from(sums.sums), squares: squares ? Float32Array.from(sums.squares) : null };
    },
    breed: () => Promise.reject(new Error("solutions are not bred here")),
    async evaluate() {
      const state = new Float64Array(width);
      const draws = { words: () => [0, 0, 0, 0] as const };
      const results = {
        returns: new Float32Array(members),
        lengths: new Uint32Array(members).fill(1),
        causes: new Uint8Array(members).fill(1),
        measures: new Float32Array(members * width),
        unsound: new Uint8Array(members),
        waves: 1,
      };
      const behaviour = new Float64Array(width);
      for (let member = 0; member < members; member++) {
        const row = Float64Array.from(rows.subarray(member * parameters, (member + 1) * parameters));
        results.returns[member] = reference!.step(state, row, draws).reward;
        reference!.measure!(state, behaviour);
        results.measures.set(behaviour, member * width);
      }
      return results;
    },
    release: async () => undefined,
  };
}
