import type { EnvironmentReference } from "../environment-spec.ts";

/** The planar arm of Cully et al. (Nature 2015) as QDax has it: −standard deviation of the angles, and where the hand is. */
export const armReference: EnvironmentReference = {
  reset: (state) => void state.fill(0),
  observe: (_, observation) => void observation.fill(1),
  step(state, action) {
    const count = action.length;
    const angles = action.map((value) => Math.min(Math.max(value, 0), 1));
    const mean = angles.reduce((sum, angle) => sum + angle, 0) / count;
    const squares = angles.reduce((sum, angle) => sum + (angle - mean) ** 2, 0);
    let [heading, x, y] = [0, 0, 0];
    for (const angle of angles) {
      heading += 2 * Math.PI * (angle - 0.5);
      x += Math.cos(heading);
      y += Math.sin(heading);
    }
    state[0] = 0.5 + (0.5 * x) / count;
    state[1] = 0.5 + (0.5 * y) / count;
    return { reward: -Math.sqrt(squares / count), terminated: true };
  },
  measure: (state, measures) => measures.set(state),
};
