import type { EnvironmentSpec } from "../environment-spec.ts";
import { invertedPendulumReference } from "./inverted-pendulum.reference.ts";

/** A pole on a cart that any force up to a limit pushes, in MuJoCo's mechanics. */
export const invertedPendulum: EnvironmentSpec = {
  name: "inverted-pendulum",
  description: "Keep a pole upright on a cart under any force (Gymnasium's InvertedPendulum-v5, as MuJoCo moves it)",
  folder: new URL(".", import.meta.url),
  file: "inverted-pendulum.wgsl",
  shared: [new URL("../rail-stop.wgsl", import.meta.url)],
  observationSize: 4,
  action: { kind: "continuous", size: 1, low: -3, high: 3 },
  stepLimit: 1_000,
  measures: 0,
  scores: { worst: 0, best: 1_000, solvedAt: 950 },
  state: ["x", "angle", "speed", "angleSpeed"].map((name) => ({ name, type: "f32", count: 1 })),
  reference: invertedPendulumReference,
};
