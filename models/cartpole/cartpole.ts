import { philox4x32, STREAM, toUnitInterval } from "./philox.ts";

/** Cart position (m), cart velocity (m/s), pole angle (rad, 0 is upright), pole angular velocity (rad/s). */
export type CartPoleState = readonly [x: number, xDot: number, theta: number, thetaDot: number];

/** Direction of the push: 0 left, 1 right. */
export type CartPoleAction = 0 | 1;

/** An episode that stands this long is truncated. */
export const MAX_EPISODE_STEPS = 500;
/** The mean return over 100 episodes from which Gymnasium calls CartPole-v1 solved. */
export const SOLVED_RETURN = 475;

const GRAVITY_MPS2 = 9.8;
const CART_MASS_KG = 1;
const POLE_MASS_KG = 0.1;
const TOTAL_MASS_KG = CART_MASS_KG + POLE_MASS_KG;
const HALF_POLE_M = 0.5;
const POLE_MOMENT_KGM = POLE_MASS_KG * HALF_POLE_M;
const FORCE_N = 10;
const STEP_S = 0.02;
const MAX_X_M = 2.4;
const MAX_THETA_RAD = (12 * Math.PI) / 180;
const RESET_SPREAD = 0.05;

/**
 * The first state of the episode `seed` (u32): every coordinate uniform in (-0.05, 0.05), as in Gymnasium,
 * drawn from Philox4x32-10 keyed by the seed. The numbers are not Gymnasium's own: its generator is another.
 */
export function resetCartPole(seed: number): CartPoleState {
  const [a, b, c, d] = philox4x32([0, 0, 0, 0], [seed, STREAM.reset]);
  const spread = (word: number) => (2 * toUnitInterval(word) - 1) * RESET_SPREAD;
  return [spread(a), spread(b), spread(c), spread(d)];
}

/**
 * One step of 0.02 s in f64: explicit Euler with the old velocities.
 *
 * Barto, Sutton and Anderson, 1983, with the correction of Florian, 2007, as in Gymnasium's CartPole-v1.
 */
export function stepCartPole([x, xDot, theta, thetaDot]: CartPoleState, action: CartPoleAction): CartPoleState {
  const force = action === 1 ? FORCE_N : -FORCE_N;
  const cos = Math.cos(theta);
  const sin = Math.sin(theta);
  const push = (force + POLE_MOMENT_KGM * (thetaDot * thetaDot) * sin) / TOTAL_MASS_KG;
  const thetaAcc =
    (GRAVITY_MPS2 * sin - cos * push) / (HALF_POLE_M * (4 / 3 - (POLE_MASS_KG * (cos * cos)) / TOTAL_MASS_KG));
  const xAcc = push - (POLE_MOMENT_KGM * thetaAcc * cos) / TOTAL_MASS_KG;
  return [x + STEP_S * xDot, xDot + STEP_S * xAcc, theta + STEP_S * thetaDot, thetaDot + STEP_S * thetaAcc];
}

/** True if the cart has left the track or the pole has fallen; the step that ends an episode still earns 1. */
export function isTerminal([x, , theta]: CartPoleState): boolean {
  return Math.abs(x) > MAX_X_M || Math.abs(theta) > MAX_THETA_RAD;
}
