import type { StrategyState } from "./strategy.ts";
import { readVector } from "./strategy-state.ts";

const FIRST_DECAY = 0.9;
const SECOND_DECAY = 0.999;
const EPSILON = 1e-8;

/** Steps of a vector up its gradient. */
export interface Optimiser {
  /** Moves `vector` in place. */
  climb(vector: Float64Array, gradient: Float64Array): void;
  save(): StrategyState;
}

/** Adam with its authors' constants (Kingma and Ba, ICLR 2015), upwards. */
export function createAdam(length: number, learningRate: number, saved: StrategyState | null): Optimiser {
  const first = saved === null ? new Float64Array(length) : readVector(saved, "adamFirst", length);
  const second = saved === null ? new Float64Array(length) : readVector(saved, "adamSecond", length);
  const steps = saved === null ? new Float64Array(1) : readVector(saved, "adamSteps", 1);
  return {
    climb: (vector, gradient) => {
      const step = ++steps[0]!;
      const firstBias = 1 - FIRST_DECAY ** step;
      const secondBias = 1 - SECOND_DECAY ** step;
      for (const [index, slope] of gradient.entries()) {
        first[index] = FIRST_DECAY * first[index]! + (1 - FIRST_DECAY) * slope;
        second[index] = SECOND_DECAY * second[index]! + (1 - SECOND_DECAY) * slope ** 2;
        const size = Math.sqrt(second[index] / secondBias) + EPSILON;
        vector[index]! += (learningRate * (first[index] / firstBias)) / size;
      }
    },
    save: () => ({ adamFirst: first.slice(), adamSecond: second.slice(), adamSteps: steps.slice() }),
  };
}
