import { createPlainSinuca } from "./plain-sinuca.ts";

/** An environment in plain JavaScript, optimised for speed: one episode at a time, with its own random numbers. */
export interface PlainTask {
  readonly observationSize: number;
  readonly outputs: number;
  readonly stepLimit: number;
  /** True if outputs are in (0, 1), by the logistic function. */
  readonly isBounded: boolean;
  reset(): void;
  observe(observation: Float64Array): void;
  /** Applies the policy's outputs; returns the reward, and `ended` says whether the episode is over. */
  step(outputs: Float64Array): number;
  ended: boolean;
}

/** Plain environments of the bench by name. */
export const PLAIN_TASKS: Readonly<Record<string, () => PlainTask>> = {
  cartpole: createCartpole,
  acrobot: createAcrobot,
  "breakout-plain": createBreakout,
  "sinuca-viva": createPlainSinuca,
};

function indexOfLargest(outputs: Float64Array): number {
  let chosen = 0;
  for (let index = 1; index < outputs.length; index++) if (outputs[index]! > outputs[chosen]!) chosen = index;
  return chosen;
}

function createCartpole(): PlainTask {
  let x = 0;
  let xSpeed = 0;
  let angle = 0;
  let angleSpeed = 0;
  const start = () => (Math.random() - 0.5) * 0.1;
  return {
    observationSize: 4,
    outputs: 2,
    stepLimit: 500,
    isBounded: false,
    ended: false,
    reset() {
      x = start();
      xSpeed = start();
      angle = start();
      angleSpeed = start();
      this.ended = false;
    },
    observe(observation) {
      observation[0] = x;
      observation[1] = xSpeed;
      observation[2] = angle;
      observation[3] = angleSpeed;
    },
    step(outputs) {
      const force = outputs[1]! > outputs[0]! ? 10 : -10;
      const sine = Math.sin(angle);
      const cosine = Math.cos(angle);
      const push = (force + 0.05 * angleSpeed * angleSpeed * sine) / 1.1;
      const anglePull = (9.8 * sine - cosine * push) / (0.5 * (4 / 3 - (0.1 * cosine * cosine) / 1.1));
      const xPull = push - (0.05 * anglePull * cosine) / 1.1;
      x += 0.02 * xSpeed;
      xSpeed += 0.02 * xPull;
      angle += 0.02 * angleSpeed;
      angleSpeed += 0.02 * anglePull;
      this.ended = x > 2.4 || x < -2.4 || angle > 0.20943951023931953 || angle < -0.20943951023931953;
      return 1;
    },
  };
}

function createAcrobot(): PlainTask {
  const turn = 2 * Math.PI;
  const state = new Float64Array(4);
  const at = new Float64Array(4);
  const slope = new Float64Array(4);
  const after = new Float64Array(4);
  const reaches = Float64Array.of(0, 0.1, 0.1, 0.2);
  const weights = Float64Array.of(0.2 / 6, 0.2 / 3, 0.2 / 3, 0.2 / 6);

  function findSlope(torque: number): void {
    const speed1 = at[2]!;
    const speed2 = at[3]!;
    const sine2 = Math.sin(at[1]!);
    const cosine2 = Math.cos(at[1]!);
    const d1 = 3.5 + cosine2;
    const d2 = 1.25 + 0.5 * cosine2;
    const phi2 = 4.9 * Math.sin(at[0]! + at[1]!);
    const phi1 = -0.5 * speed2 * speed2 * sine2 - speed2 * speed1 * sine2 + 14.7 * Math.sin(at[0]!) + phi2;
    const pull2 = (torque + (d2 / d1) * phi1 - 0.5 * speed1 * speed1 * sine2 - phi2) / (1.25 - (d2 * d2) / d1);
    slope[0] = speed1;
    slope[1] = speed2;
    slope[2] = -(d2 * pull2 + phi1) / d1;
    slope[3] = pull2;
  }

  return {
    observationSize: 6,
    outputs: 3,
    stepLimit: 500,
    isBounded: false,
    ended: false,
    reset() {
      for (let index = 0; index < 4; index++) state[index] = (Math.random() - 0.5) * 0.2;
      this.ended = false;
    },
    observe(observation) {
      observation[0] = Math.cos(state[0]!);
      observation[1] = Math.sin(state[0]!);
      observation[2] = Math.cos(state[1]!);
      observation[3] = Math.sin(state[1]!);
      observation[4] = state[2]!;
      observation[5] = state[3]!;
    },
    step(outputs) {
      const torque = indexOfLargest(outputs) - 1;
      slope.fill(0);
      after.set(state);
      for (let stage = 0; stage < 4; stage++) {
        const reach = reaches[stage]!;
        const weight = weights[stage]!;
        for (let index = 0; index < 4; index++) at[index] = state[index]! + reach * slope[index]!;
        findSlope(torque);
        for (let index = 0; index < 4; index++) after[index]! += weight * slope[index]!;
      }
      state[0] = after[0]! - turn * Math.round(after[0]! / turn);
      state[1] = after[1]! - turn * Math.round(after[1]! / turn);
      state[2] = Math.min(Math.max(after[2]!, -4 * Math.PI), 4 * Math.PI);
      state[3] = Math.min(Math.max(after[3]!, -9 * Math.PI), 9 * Math.PI);
      this.ended = -Math.cos(state[0]) - Math.cos(state[0] + state[1]) > 1;
      return this.ended ? 0 : -1;
    },
  };
}

function createBreakout(): PlainTask {
  const wall = 0x3fffffff;
  let bricks = wall;
  let paddle = 4;
  let x = 0;
  let y = 3;
  let lastX = 0;
  let lastY = 3;
  let stepX = 1;
  let stepY = 1;
  let inBricks = false;
  return {
    observationSize: 400,
    outputs: 6,
    stepLimit: 5_000,
    isBounded: false,
    ended: false,
    reset() {
      const atRight = Math.random() < 0.5;
      bricks = wall;
      paddle = 4;
      lastX = x = atRight ? 9 : 0;
      lastY = y = 3;
      stepX = atRight ? -1 : 1;
      stepY = 1;
      inBricks = false;
      this.ended = false;
    },
    observe(observation) {
      observation.fill(0);
      observation[4 * (90 + paddle)] = 1;
      observation[4 * (10 * y + x) + 1] = 1;
      observation[4 * (10 * lastY + lastX) + 2] = 1;
      for (let left = bricks; left !== 0; left &= left - 1) observation[4 * (41 - Math.clz32(left & -left)) + 3] = 1;
    },
    step(outputs) {
      const action = indexOfLargest(outputs);
      if (action === 1 && paddle > 0) paddle--;
      if (action === 3 && paddle < 9) paddle++;
      lastX = x;
      lastY = y;
      x += stepX;
      y += stepY;
      if (x < 0 || x > 9) {
        x = x < 0 ? 0 : 9;
        stepX = -stepX;
      }
      const brick = y >= 1 && y <= 3 ? 1 << (10 * (y - 1) + x) : 0;
      const wasInBricks = inBricks;
      let reward = 0;
      inBricks = false;
      if (y < 0) {
        y = 0;
        stepY = -stepY;
      } else if ((bricks & brick) !== 0) {
        inBricks = true;
        if (!wasInBricks) {
          reward = 1;
          bricks &= ~brick;
          y = lastY;
          stepY = -stepY;
        }
      } else if (y === 9) {
        if (bricks === 0) bricks = wall;
        if (lastX === paddle || x === paddle) {
          if (lastX !== paddle) stepX = -stepX;
          y = lastY;
          stepY = -stepY;
        } else {
          this.ended = true;
        }
      }
      return reward;
    },
  };
}
