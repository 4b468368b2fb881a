import type { EnvironmentSpec } from "../environment-spec.ts";
import { pendulumReference } from "./pendulum.reference.ts";

/** A pendulum that is swung up and held by a torque that is too weak to do it at once. */
export const pendulum: EnvironmentSpec = {
  name: "pendulum",
  description: "Swing a pendulum up by a weak torque and hold it there (Gymnasium's Pendulum-v1)",
  folder: new URL(".", import.meta.url),
  file: "pendulum.wgsl",
  assembly: { file: "pendulum.as", lanes: 4 },
  observationSize: 3,
  action: { kind: "continuous", size: 1, low: -2, high: 2 },
  stepLimit: 200,
  measures: 0,
  // Worst: upside down at full speed and torque all the time.
  scores: { worst: -3255, best: 0, solvedAt: null },
  state: ["angle", "speed"].map((name) => ({ name, type: "f32", count: 1 })),
  reference: pendulumReference,
};
