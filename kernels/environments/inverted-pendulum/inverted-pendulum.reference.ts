import { toUniform } from "../../../src/stats/random/draws.ts";
import { clip, stepRungeKutta } from "../motion.reference.ts";
import type { EnvironmentReference } from "../environment-spec.ts";
import { findStopForce } from "../rail-stop.reference.ts";

const GRAVITY = 9.81;
const TOTAL_MASS = 15.490567153329286;
const POLE_MASS = 5.018591641363306;
const POLE_INERTIA = 0.1887497668730885;
const CENTRE = Math.hypot(0.0005, 0.3);
const LEAN = Math.atan2(0.0005, 0.3);
const DAMPING = 1;
const GEAR = 100;
const MAX_ACTION = 3;
const SECONDS = 0.02;
const FRAMES = 2;
const MAX_ANGLE = 0.2;
const STOP = { margin: 0, slack: 0.08367433805859587, seconds: 0.04 } as const;

/** InvertedPendulum-v5 of Gymnasium and MuJoCo in closed form: position, angle (0 upright), and their speeds. */
export const invertedPendulumReference: EnvironmentReference = {
  reset(state, draws) {
    state.set(draws.words().map((word) => (toUniform(word) - 0.5) * 0.02));
  },
  observe: (state, observation) => observation.set(state),
  step(state, action) {
    const force = GEAR * clip(action[0]!, MAX_ACTION);
    for (let frame = 0; frame < FRAMES; frame++)
      state.set(stepRungeKutta(state, SECONDS, (at) => findSlopes(at as unknown as State, force)));
    const down = !state.every(Number.isFinite) || Math.abs(state[1]!) > MAX_ANGLE;
    return { reward: down ? 0 : 1, terminated: down };
  },
};

type State = readonly [number, number, number, number];

/** The cart's equation with the pole's put in: `weight` is the mass that a force on the cart has to move. */
function findSlopes([x, angle, speed, angleSpeed]: State, force: number): number[] {
  const [sine, cosine] = [Math.sin(angle + LEAN), Math.cos(angle + LEAN)];
  const moment = POLE_MASS * CENTRE;
  const inertia = POLE_INERTIA + moment * CENTRE;
  const torque = moment * GRAVITY * sine - DAMPING * angleSpeed;
  const weight = TOTAL_MASS - (moment * cosine) ** 2 / inertia;
  const push = force - DAMPING * speed + moment * sine * angleSpeed ** 2 - (moment * cosine * torque) / inertia;
  const pull = (push + findStopForce(STOP, x, speed, push / weight, 1 / weight)) / weight;
  return [speed, angleSpeed, pull, (torque - moment * cosine * pull) / inertia];
}
