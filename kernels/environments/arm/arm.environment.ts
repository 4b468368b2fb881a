import type { EnvironmentSpec } from "../environment-spec.ts";
import { armReference } from "./arm.reference.ts";

/** A planar arm for quality diversity; meant for the network `direct`. */
export const arm: EnvironmentSpec = {
  name: "arm",
  description: "A planar arm of 100 joints with angles as even as can be, where its hand is as measures (as in QDax)",
  folder: new URL(".", import.meta.url),
  file: "arm.wgsl",
  observationSize: 1,
  action: { kind: "continuous", size: 100, low: 0, high: 1 },
  stepLimit: 1,
  measures: 2,
  // Angles at both ends have a standard deviation of ½.
  scores: { worst: -0.5, best: 0, solvedAt: null },
  state: [{ name: "hand", type: "f32", count: 2 }],
  reference: armReference,
};
