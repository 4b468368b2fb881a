import type { EnvironmentSpec } from "../environment-spec.ts";
import { invertedDoublePendulumReference } from "./inverted-double-pendulum.reference.ts";

/** Two poles, one on the other, on a cart that any force up to a limit pushes, in MuJoCo's mechanics. */
export const invertedDoublePendulum: EnvironmentSpec = {
  name: "inverted-double-pendulum",
  description:
    "Keep two poles upright, one on the other, on a cart (Gymnasium's InvertedDoublePendulum-v5, as MuJoCo moves it)",
  folder: new URL(".", import.meta.url),
  file: "inverted-double-pendulum.wgsl",
  shared: [new URL("../rail-stop.wgsl", import.meta.url)],
  observationSize: 9,
  action: { kind: "continuous", size: 1, low: -1, high: 1 },
  stepLimit: 1_000,
  measures: 0,
  // Best: at rest, straight up (1.2 m) at the middle, where a step gives 10 − 0.8².
  scores: { worst: 0, best: 9_360, solvedAt: 9_100 },
  state: [
    { name: "place", type: "f32", count: 3 },
    { name: "speed", type: "f32", count: 3 },
    { name: "stop", type: "f32", count: 1 },
  ],
  reference: invertedDoublePendulumReference,
};
