import { describe, expect, test } from "vitest";
import type { PolicyNetwork } from "../../src/protocol/models/policy-network.ts";
import { createDraws, toUniform } from "../../src/stats/random/draws.ts";
import { rollOut } from "../rollout/roll-out.reference.ts";
import { cartpole } from "./cartpole/cartpole.environment.ts";
import type { EnvironmentSpec } from "./environment-spec.ts";
import { invertedPendulum } from "./inverted-pendulum/inverted-pendulum.environment.ts";
import { mountainCar } from "./mountain-car/mountain-car.environment.ts";

const LINEAR: PolicyNetwork = { kind: "mlp", hidden: [], activation: "none", outputActivation: "none" };

describe("policies score on the references as they do elsewhere", () => {
  test("any action that comes to mind holds a pole for 22.35 ± 0.38 steps", () => {
    const episodes = 4_000;
    let steps = 0;
    for (let episode = 0; episode < episodes; episode++) steps += playAtRandom(cartpole, episode);
    // Three deviations of theirs and of our own mean, which is 12/√4000.
    expect(Math.abs(steps / episodes - 22.35)).toBeLessThan(3 * Math.hypot(0.38, 0.19));
  });

  test("pushing after the pole holds it for good", () => {
    const weights = Float32Array.of(0, 0, 0, 0, 0.1, 0.3, 1, 0.4, 0, 0);
    expect(new Set(scores(cartpole, weights, 50))).toEqual(new Set([500]));
  });

  test("driving where it rolls takes the car up in about 120 steps", () => {
    // Left, not at all, or right by the speed; right from rest. Gymnasium 1.4.0 gives −119.9 ± 0.25 over 200 episodes.
    const returns = scores(mountainCar, Float32Array.of(0, -1, 0, 0, 0, 1, 0, 0, 1e-9), 200);
    const mean = returns.reduce((sum, total) => sum + total, 0) / returns.length;
    expect(Math.abs(mean + 119.9)).toBeLessThan(1.5);
  });

  test("a linear controller holds MuJoCo's pendulum on the rail", () => {
    expect(new Set(scores(invertedPendulum, Float32Array.of(0.1, 5, 0.3, 1, 0), 10))).toEqual(new Set([1_000]));
  });
});

function scores(environment: EnvironmentSpec, weights: Float32Array, episodes: number): number[] {
  const key = { seed: 11, member: 0, commonRandom: true };
  return Array.from(
    { length: episodes },
    (_, episode) => rollOut(environment, LINEAR, weights, { ...key, episode }).total,
  );
}

/** Steps of an episode under actions that are drawn. */
function playAtRandom({ reference, state: { length } }: EnvironmentSpec, episode: number): number {
  const state = new Float64Array(length);
  const drawsAt = (stream: number, step: number) => createDraws({ seed: 11, stream, member: 0, episode, step });
  reference!.reset(state, drawsAt(1, 0));
  for (let step = 1; ; step++) {
    const action = Math.floor(2 * toUniform(drawsAt(9, step).words()[0]));
    if (reference!.step(state, Float64Array.of(action), drawsAt(1, step)).terminated) return step;
  }
}
