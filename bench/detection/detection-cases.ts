import type { Recipe } from "./generate-series.ts";

export interface DetectionCase {
  readonly name: string;
  /** Cases of one group also get rows together. */
  readonly group?: string;
  readonly recipe: Recipe;
}

const LENGTH = 200;
const NOISES = [0.005, 0.01, 0.03];
const SIZES = [0.02, 0.05, 0.1, 0.2];
const BASE = { length: LENGTH, noise: 0.01 };
const TWO_STEPS = (size: number) => ({ steps: { count: 2, size } });
const MODES = { size: 0.08 };
const SPIKES = 0.03;

/** Cases of the measurement; see bench/README.md. */
export const DETECTION_CASES: readonly DetectionCase[] = [
  ...SIZES.flatMap((size) =>
    NOISES.map((noise) => ({
      name: `steps of ${percent(size)}, noise ${percent(noise)}`,
      group: "steps",
      recipe: { length: LENGTH, noise, ...TWO_STEPS(size) },
    })),
  ),
  ...NOISES.map((noise) => ({ name: `noise ${percent(noise)}`, group: "noise", recipe: { length: LENGTH, noise } })),
  { name: "spikes", recipe: { ...BASE, spikes: SPIKES } },
  { name: "spikes and steps of 10 %", recipe: { ...BASE, spikes: SPIKES, ...TWO_STEPS(0.1) } },
  { name: "heavy tails", recipe: { ...BASE, tails: "heavy" } },
  { name: "heavy tails and steps of 10 %", recipe: { ...BASE, tails: "heavy", ...TWO_STEPS(0.1) } },
  { name: "bimodal", recipe: { ...BASE, modes: { ...MODES, stay: 0 } } },
  { name: "bimodal, staying a while", recipe: { ...BASE, modes: { ...MODES, stay: 0.8 } } },
  { name: "bimodal and steps of 20 %", recipe: { ...BASE, modes: { ...MODES, stay: 0.5 }, ...TWO_STEPS(0.2) } },
  { name: "drift of 10 % in 60 points", recipe: { ...BASE, drift: { size: 0.1, points: 60 } } },
  {
    name: "zero variance, rare spikes and steps of 3 %",
    recipe: { length: LENGTH, noise: 0, spikes: 0.01, ...TWO_STEPS(0.03) },
  },
  { name: "gaps and steps of 5 %", recipe: { length: 260, noise: 0.01, gaps: 3, ...TWO_STEPS(0.05) } },
];

function percent(share: number): string {
  return `${share * 100} %`;
}
