import type { KernelSpec } from "../kernel-spec.ts";
import { seededUniform } from "../seeded-uniform.ts";
import { coverItems } from "../webgpu-limits.ts";
import { type EvolutionStepSize, evolutionStepReference } from "./evolution-step.reference.ts";

/** Of the generated settings. */
const SIGMA = 0.1;
const RATE = 0.1;

/** One generation of a genetic algorithm; the same one on every device. */
export const evolutionStep: KernelSpec<EvolutionStepSize> = {
  name: "evolution-step",
  description: "One generation: elites, tournament selection, uniform crossover, Gaussian mutation",
  folder: new URL(".", import.meta.url),
  dimensions: [
    { name: "members", description: "Members of the population", min: 1, max: 16_384, default: 1024 },
    { name: "genes", description: "Genes of each member", min: 1, max: 2048, default: 256 },
    { name: "tournament", description: "Members in a tournament", min: 1, max: 64, default: 4 },
    { name: "elites", description: "Best members, which are kept as they are", min: 1, max: 1024, default: 16 },
  ],
  dtypes: ["float32"],
  bindings: [
    {
      name: "population",
      access: "read",
      dtype: "float32",
      extents: ({ members, genes }) => [members, genes],
      alignment: [1, 4],
    },
    { name: "fitness", access: "read", dtype: "float32", extents: ({ members }) => [members], alignment: [1] },
    { name: "settings", access: "read", dtype: "float32", extents: () => [4], alignment: [1] },
    { name: "key", access: "read", dtype: "int32", extents: () => [2], alignment: [1] },
    { name: "parents", access: "scratch", dtype: "int32", extents: ({ members }) => [members, 2], alignment: [1, 1] },
    {
      name: "children",
      access: "write",
      dtype: "float32",
      extents: ({ members, genes }) => [members, genes],
      alignment: [1, 4],
    },
  ],
  variants: [
    {
      name: "four-genes-per-lane",
      file: "evolution-step.wgsl",
      axes: [{ name: "lanes", values: [4, 16, 64, 256], default: 16 }],
      passes: [
        { entryPoint: "selectParents", workgroups: ({ members }, { lanes }) => coverItems(members, lanes!) },
        {
          entryPoint: "breed",
          workgroups: ({ members, genes }, { lanes }) => [Math.ceil(genes / 4 / lanes!), members, 1],
        },
      ],
    },
  ],
  flops: () => 0,
  bytes: ({ members, genes }) => 4 * members * (2 * genes + 1),
  tolerance: {
    relative: 0,
    // No draw is farther out than 6.4 σ, and no gene is larger than 1.
    absolute: () => SIGMA * 6.4 * 2e-6 + 2 ** -23,
    reason:
      "choices are integers and exact; a mutation is σ times a normal quantile with a relative error below 2e-6 (degree 8 and 7, log of 3 ulp or 2⁻²¹, sqrt and quotients of 2.5 ulp, as WGSL promises), and two roundings of numbers below 2",
  },
  generate: ({ members, genes }, seed) => ({
    population: seededUniform(seed, 0, members * genes),
    // In few steps, so that tournaments and elites meet equals and sometimes NaN.
    fitness: seededUniform(seed, 1, members, 16).map((value, index) =>
      index % 32 === 5 ? Number.NaN : Math.round(value) / 16,
    ),
    settings: Float32Array.of(RATE, SIGMA, -1, 1),
    key: Int32Array.of(seed, 7),
  }),
  reference: evolutionStepReference,
};
