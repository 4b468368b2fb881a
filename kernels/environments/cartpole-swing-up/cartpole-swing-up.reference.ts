import { toNormals, toUniform } from "../../../src/stats/random/draws.ts";
import { clip } from "../motion.reference.ts";
import type { EnvironmentReference } from "../environment-spec.ts";

const GRAVITY = 9.82;
const POLE_MASS = 0.5;
const TOTAL_MASS = 1;
const LENGTH = 0.6;
const FRICTION = 0.1;
const MAX_FORCE = 10;
const SECONDS = 0.01;
const MAX_X = 2.4;
const HARD_SPREAD = [MAX_X, 10, Math.PI / 2, 10] as const;

/** CartPole swing-up as EvoJAX has it: position, speed, angle (0 upright), angular speed. */
export const swingUpReference: EnvironmentReference = {
  reset(state, draws) {
    state.set(toNormals(draws.words()).map((number) => 0.2 * number));
    state[2]! += Math.PI;
  },
  observe(state, observation) {
    const [x, xSpeed, angle, angleSpeed] = state as unknown as State;
    observation.set([x, xSpeed, Math.cos(angle), Math.sin(angle), angleSpeed]);
  },
  step(state, action) {
    const [x, xSpeed, angle, angleSpeed] = state as unknown as State;
    const [sine, cosine] = [Math.sin(angle), Math.cos(angle)];
    const pull = MAX_FORCE * clip(action[0]!, 1) - FRICTION * xSpeed;
    const swing = POLE_MASS * LENGTH * angleSpeed ** 2 * sine;
    const weight = 4 * TOTAL_MASS - 3 * POLE_MASS * cosine ** 2;
    const xPull = (4 * pull - 2 * swing + 3 * POLE_MASS * GRAVITY * sine * cosine) / weight;
    const anglePull = (6 * pull * cosine - 3 * swing * cosine + 6 * TOTAL_MASS * GRAVITY * sine) / (LENGTH * weight);
    state[0] = x + SECONDS * xSpeed;
    state[1] = xSpeed + SECONDS * xPull;
    state[2] = angle + SECONDS * angleSpeed;
    state[3] = angleSpeed + SECONDS * anglePull;
    const reward = 0.5 * (1 + Math.cos(state[2])) * Math.cos((state[0] * Math.PI) / (2 * MAX_X));
    return { reward, terminated: Math.abs(state[0]) > MAX_X };
  },
};

/** The same from anywhere and at any speed, below the horizon. */
export const hardSwingUpReference: EnvironmentReference = {
  ...swingUpReference,
  reset(state, draws) {
    state.set(draws.words().map((word, index) => (2 * toUniform(word) - 1) * HARD_SPREAD[index]!));
    state[2]! += Math.PI;
  },
};

type State = readonly [number, number, number, number];
