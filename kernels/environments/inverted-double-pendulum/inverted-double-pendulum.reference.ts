import { toNormals, toUniform } from "../../../src/stats/random/draws.ts";
import { clip, stepRungeKutta } from "../motion.reference.ts";
import type { EnvironmentReference } from "../environment-spec.ts";
import { findStopForce } from "../rail-stop.reference.ts";

const GRAVITY = 9.81;
const SLOPE = 1e-5;
const TOTAL_MASS = 18.869452675011495;
const POLE_MASS = 4.1987385815227585;
const POLE_INERTIA = 0.15497066975016235;
const LENGTH = 0.6;
const CENTRE = 0.3;
const DAMPING = 0.05;
const GEAR = 500;
const SECONDS = 0.01;
const FRAMES = 5;
const MIN_HEIGHT = 1;
const STOP = { margin: 0.01, slack: 0.08467261918769675, seconds: 0.02 } as const;

/**
 * InvertedDoublePendulum-v5 of Gymnasium and MuJoCo in closed form: position, both angles (0 upright, the second from the
 * first pole), their speeds, and the force of the rail's end.
 */
export const invertedDoublePendulumReference: EnvironmentReference = {
  reset(state, draws) {
    state.set(draws.words().map((word) => (toUniform(word) - 0.5) * 0.2));
    state.set(
      toNormals(draws.words()).map((number) => 0.1 * number),
      3,
    );
    state[6] = 0;
  },
  observe(state, observation) {
    const [x, first, second, ...speeds] = state as unknown as number[];
    const bounded = speeds.map((number) => clip(number, 10));
    observation.set([x!, Math.sin(first!), Math.sin(second!), Math.cos(first!), Math.cos(second!), ...bounded]);
  },
  step(state, action) {
    const force = GEAR * clip(action[0]!, 1);
    let moving: Float64Array = state.slice(0, 6);
    let last: Float64Array = moving;
    for (let frame = 0; frame < FRAMES; frame++) {
      moving = stepRungeKutta(moving, SECONDS, (at) => {
        last = at;
        return findMotion(at as unknown as State, force).slopes;
      });
    }
    // MuJoCo reports the tip and the stop of the last stage that it evaluated, not of the state after it.
    state.set([...moving, findMotion(last as unknown as State, force).stop]);
    const [x, first, second] = last as unknown as State;
    const tipX = x + LENGTH * (Math.sin(first) + Math.sin(first + second));
    const tipHeight = LENGTH * (Math.cos(first) + Math.cos(first + second));
    const down = tipHeight <= MIN_HEIGHT;
    const lost = 0.01 * tipX ** 2 + (tipHeight - 2) ** 2 + 1e-3 * state[4]! ** 2 + 5e-3 * state[5]! ** 2;
    return { reward: (down ? 0 : 10) - lost, terminated: down };
  },
};

type State = readonly [number, number, number, number, number, number];

/**
 * Lagrange's equations in the angles against the vertical; those of the poles are put into the cart's, whose `weight`
 * is the mass that a force on it has to move.
 */
function findMotion([x, angle1, angle2, speed, speed1, speed2]: State, force: number) {
  const turn2 = angle1 + angle2;
  const spin2 = speed1 + speed2;
  const [sine1, cosine1, sine2, cosine2] = [Math.sin(angle1), Math.cos(angle1), Math.sin(turn2), Math.cos(turn2)];
  const moment1 = POLE_MASS * (CENTRE + LENGTH);
  const moment2 = POLE_MASS * CENTRE;
  const [u1, u2] = [moment1 * cosine1, moment2 * cosine2];
  const b11 = POLE_INERTIA + POLE_MASS * (CENTRE ** 2 + LENGTH ** 2);
  const b12 = moment2 * LENGTH * Math.cos(angle2);
  const b22 = POLE_INERTIA + moment2 * CENTRE;
  const determinant = b11 * b22 - b12 ** 2;
  const whirl = moment2 * LENGTH * Math.sin(angle2);
  const torque1 =
    moment1 * (GRAVITY * sine1 + SLOPE * cosine1) + whirl * spin2 ** 2 - DAMPING * speed1 + DAMPING * speed2;
  const torque2 = moment2 * (GRAVITY * sine2 + SLOPE * cosine2) - whirl * speed1 ** 2 - DAMPING * speed2;
  /** The poles' accelerations under these torques. */
  const turn = (first: number, second: number): [number, number] => [
    (b22 * first - b12 * second) / determinant,
    (b11 * second - b12 * first) / determinant,
  ];
  const [free1, free2] = turn(torque1, torque2);
  const [drag1, drag2] = turn(u1, u2);
  const weight = TOTAL_MASS - u1 * drag1 - u2 * drag2;
  const push =
    force -
    DAMPING * speed +
    TOTAL_MASS * SLOPE +
    moment1 * sine1 * speed1 ** 2 +
    moment2 * sine2 * spin2 ** 2 -
    u1 * free1 -
    u2 * free2;
  const stop = findStopForce(STOP, x, speed, push / weight, 1 / weight);
  const pull = (push + stop) / weight;
  const pull1 = free1 - drag1 * pull;
  return { slopes: [speed, speed1, speed2, pull, pull1, free2 - drag2 * pull - pull1], stop };
}
