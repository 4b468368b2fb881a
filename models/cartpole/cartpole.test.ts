import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readModelCard } from "../model-card.ts";
import { countOnnxParameters } from "../onnx-parameter-count.ts";
import { isTerminal, MAX_EPISODE_STEPS, resetCartPole, SOLVED_RETURN, stepCartPole } from "./cartpole.ts";
import type { CartPoleAction } from "./cartpole.ts";
import { episodeSeeds } from "./episode-seeds.ts";
import { evaluatePolicy } from "./evaluate.ts";
import type { EpisodeResult, Policy } from "./evaluate.ts";
import { MLP_PARAMETERS } from "./mlp-policy.ts";
import { onnxPolicy } from "./onnx-policy.ts";
import { randomPolicy } from "./random-policy.ts";

const card = readModelCard(new URL("./", import.meta.url));
const file = readFileSync(new URL("cartpole.onnx", import.meta.url));

describe("stepCartPole", () => {
  it("gives Gymnasium's next state", () => {
    const [x, xDot, theta, thetaDot] = stepCartPole([0.01, -0.02, 0.03, 0.04], 1);
    expect(x).toBeCloseTo(0.0096, 15);
    expect(xDot).toBe(0.17467919574755525);
    expect(theta).toBeCloseTo(0.0308, 15);
    expect(thetaDot).toBe(-0.2430687179600081);
  });

  it("mirrors when state and push are mirrored", () => {
    const right = stepCartPole([0.1, -0.2, 0.05, 0.3], 1);
    const left = stepCartPole([-0.1, 0.2, -0.05, -0.3], 0);
    expect(left).toEqual(right.map((value) => -value));
  });

  it("ends beyond 2.4 m and 12 degrees, either way, and not on them", () => {
    const limitRad = (12 * Math.PI) / 180;
    expect([2.4, -2.4].map((x) => isTerminal([x, 0, 0, 0]))).toEqual([false, false]);
    expect([2.401, -2.401].map((x) => isTerminal([x, 0, 0, 0]))).toEqual([true, true]);
    expect([limitRad, -limitRad].map((theta) => isTerminal([0, 0, theta, 0]))).toEqual([false, false]);
    expect([limitRad + 1e-9, -limitRad - 1e-9].map((theta) => isTerminal([0, 0, theta, 0]))).toEqual([true, true]);
  });
});

describe("resetCartPole", () => {
  it("spreads every coordinate evenly within 0.05 of rest", () => {
    const states = episodeSeeds("test", 4000).map(resetCartPole);
    for (const axis of [0, 1, 2, 3] as const) {
      const values = states.map((state) => state[axis]);
      expect(Math.max(...values.map(Math.abs))).toBeLessThan(0.05);
      expect(values.reduce((sum, value) => sum + value) / values.length).toBeCloseTo(0, 2);
      expect(values.reduce((sum, value) => sum + value ** 2) / values.length).toBeCloseTo(0.05 ** 2 / 3, 4);
    }
  });

  it("is a function of the seed alone", () => {
    expect(resetCartPole(7)).toEqual(resetCartPole(7));
    expect(resetCartPole(7)).not.toEqual(resetCartPole(8));
  });
});

describe("evaluatePolicy", () => {
  const seeds = episodeSeeds("test", 100);

  it("gives the terminal step its reward and tells a fall from the limit", async () => {
    const [fallen] = await evaluatePolicy(() => 1, seeds);
    expect(fallen).toMatchObject({ seed: seeds[0], terminated: true, truncated: false });
    expect(fallen!.return).toBe(countSteps(1, seeds[0]!));
    expect(fallen!.return).toBeLessThan(15);
  });

  it("truncates at 500 under the linear rule that is known to hold the pole", async () => {
    const linear: Policy = ([x, xDot, theta, thetaDot]) => (0.1 * x + 0.3 * xDot + theta + 0.4 * thetaDot > 0 ? 1 : 0);
    const results = await evaluatePolicy(linear, seeds);
    expect(results.every((result) => result.truncated && !result.terminated)).toBe(true);
    expect(meanReturn(results)).toBe(MAX_EPISODE_STEPS);
  });

  it("puts the random policy where Gymnasium's is, 22.35 ± .38, far from solved", async () => {
    const mean = meanReturn(await evaluatePolicy(randomPolicy(3), episodeSeeds("test", 4000)));
    expect(mean).toBeGreaterThan(22.35 - 3 * 0.38);
    expect(mean).toBeLessThan(22.35 + 3 * 0.38);
    expect(mean).toBeLessThan(SOLVED_RETURN);
  });
});

describe("cartpole.onnx", () => {
  it("holds the parameters of a 4-16-2 network, as the card counts them", () => {
    expect(countOnnxParameters(file)).toBe(4 * 16 + 16 + 16 * 2 + 2);
    expect(countOnnxParameters(file)).toBe(MLP_PARAMETERS);
    expect(countOnnxParameters(file)).toBe(card.parameters);
  });

  it("solves CartPole over 100 episodes that neither trained nor chose nor reported it", async () => {
    const results = await evaluatePolicy(await onnxPolicy(file), episodeSeeds("test", 100));
    expect(meanReturn(results)).toBeGreaterThanOrEqual(SOLVED_RETURN);
  });
});

describe("card.md", () => {
  it("gives the figures of card.json", () => {
    const text = readFileSync(new URL("card.md", import.meta.url), "utf8");
    const { value, interval, n, baseline } = card.evaluation;
    expect(text).toContain(`${card.file.sizeBytes} bytes`);
    expect(text).toContain(`${card.parameters}, counted from the file`);
    expect(text).toContain(`${value.toFixed(2)} [${interval.low.toFixed(2)}, ${interval.high.toFixed(2)}]`);
    expect(text).toContain(n.toLocaleString("en"));
    expect(text).toContain(
      `${baseline.value.toFixed(2)} [${baseline.interval.low.toFixed(2)}, ${baseline.interval.high.toFixed(2)}]`,
    );
    expect(text).toContain(`generation ${card.training.outcome["solvedAtGeneration"]}`);
  });
});

/** The steps of an episode under one push for ever, counted without evaluatePolicy. */
function countSteps(action: CartPoleAction, seed: number): number {
  let state = resetCartPole(seed);
  let steps = 0;
  while (!isTerminal(state)) {
    state = stepCartPole(state, action);
    steps++;
  }
  return steps;
}

function meanReturn(results: readonly EpisodeResult[]): number {
  return results.reduce((sum, result) => sum + result.return, 0) / results.length;
}
