import type { EnvironmentSpec } from "../environment-spec.ts";
import { mountainCarContinuousReference } from "./mountain-car-continuous.reference.ts";

/** The weak car under a push of any strength: 100 at the flag, minus the cost of the pushes. */
export const mountainCarContinuous: EnvironmentSpec = {
  name: "mountain-car-continuous",
  description: "Swing a weak car up to the flag with little effort (Gymnasium's MountainCarContinuous-v0)",
  folder: new URL(".", import.meta.url),
  file: "mountain-car-continuous.wgsl",
  shared: [new URL("../mountain-car/valley.wgsl", import.meta.url)],
  assembly: {
    file: "mountain-car-continuous.as",
    shared: [new URL("../mountain-car/valley.as", import.meta.url)],
    lanes: 4,
  },
  observationSize: 2,
  action: { kind: "continuous", size: 1, low: -1, high: 1 },
  stepLimit: 999,
  measures: 0,
  // Worst: full effort for nothing.
  scores: { worst: -99.9, best: 100, solvedAt: 90 },
  state: ["position", "speed"].map((name) => ({ name, type: "f32", count: 1 })),
  reference: mountainCarContinuousReference,
};
