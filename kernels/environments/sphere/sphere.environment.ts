import type { EnvironmentSpec } from "../environment-spec.ts";
import { sphereReference } from "./sphere.reference.ts";

/** A solution of 20 numbers for quality diversity; meant for the network `direct`. */
export const sphere: EnvironmentSpec = {
  name: "sphere",
  description: "Twenty numbers near 2.048, their two halves' sums as measures (Fontaine et al. 2020, as in pyribs)",
  folder: new URL(".", import.meta.url),
  file: "sphere.wgsl",
  observationSize: 1,
  action: { kind: "continuous", size: 20, low: -5.12, high: 5.12 },
  stepLimit: 1,
  measures: 2,
  scores: { worst: 0, best: 100, solvedAt: null },
  state: [{ name: "measures", type: "f32", count: 2 }],
  reference: sphereReference,
};
