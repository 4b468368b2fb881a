import type { EnvironmentReference } from "../environment-spec.ts";

const BOUND = 5.12;
const SHIFT = 0.4 * BOUND;
const WORST = (BOUND + SHIFT) ** 2;

/** The sphere with linear projections of Fontaine et al. (GECCO 2020, section 4.1), fitness in per cent as pyribs has it. */
export const sphereReference: EnvironmentReference = {
  reset: (state) => void state.fill(0),
  observe: (_, observation) => void observation.fill(1),
  step(state, action) {
    const half = action.length / 2;
    state[0] = project(action.subarray(0, half));
    state[1] = project(action.subarray(half));
    const squares = action.reduce((sum, value) => sum + (value - SHIFT) ** 2, 0);
    return { reward: 100 * (1 - squares / (WORST * action.length)), terminated: true };
  },
  measure: (state, measures) => measures.set(state),
};

/** Sum of the numbers, beyond the bounds ever less of them, in [0, 1]. */
function project(values: Float64Array): number {
  const sum = values.reduce((before, value) => before + (Math.abs(value) > BOUND ? BOUND / value : value), 0);
  return 0.5 + sum / (2 * BOUND * values.length);
}
