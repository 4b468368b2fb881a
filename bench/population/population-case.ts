import type { KernelShape } from "../../kernels/kernel-spec.ts";
import type { MlpPopulationSize } from "../../kernels/mlp-population/mlp-population.reference.ts";
import type { Entry } from "../contest.ts";
import type { RoundTripCase } from "../kernel-contest/kernel-case.ts";

/** A population's step: every member's samples come from host memory, and its outputs go there. */
export interface PopulationCase extends RoundTripCase {
  readonly kernel: "mlp-population";
  readonly shape: KernelShape<MlpPopulationSize>;
}

/** Converts an entry's milliseconds of a step to forward passes per second. */
export function countForwards(entry: Entry, { shape }: PopulationCase): Entry {
  return {
    ...entry,
    async measure() {
      const { time = Number.NaN } = await entry.measure();
      return { forwards: (shape.members * shape.samples * 1e3) / time };
    },
  };
}
