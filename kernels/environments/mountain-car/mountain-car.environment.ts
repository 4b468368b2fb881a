import type { EnvironmentSpec } from "../environment-spec.ts";
import { mountainCarReference } from "./mountain-car.reference.ts";

/** A weak car that has to swing itself out of a valley; −1 for each step until then. */
export const mountainCar: EnvironmentSpec = {
  name: "mountain-car",
  description: "Swing a weak car up to the flag on a hill (Gymnasium's MountainCar-v0)",
  folder: new URL(".", import.meta.url),
  file: "mountain-car.wgsl",
  shared: [new URL("valley.wgsl", import.meta.url)],
  assembly: { file: "mountain-car.as", shared: [new URL("valley.as", import.meta.url)], lanes: 4 },
  observationSize: 2,
  action: { kind: "discrete", count: 3 },
  stepLimit: 200,
  measures: 0,
  scores: { worst: -200, best: 0, solvedAt: -110 },
  state: ["position", "speed"].map((name) => ({ name, type: "f32", count: 1 })),
  reference: mountainCarReference,
};
