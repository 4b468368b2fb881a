import type { EnvironmentSpec } from "../environment-spec.ts";
import { acrobotReference } from "./acrobot.reference.ts";

/** Two links that swing their end up by a torque between them; −1 for each step until then. */
export const acrobot: EnvironmentSpec = {
  name: "acrobot",
  description: "Swing the end of two links above a line by a torque between them (Gymnasium's Acrobot-v1)",
  folder: new URL(".", import.meta.url),
  file: "acrobot.wgsl",
  assembly: { file: "acrobot.as", lanes: 4 },
  observationSize: 6,
  action: { kind: "discrete", count: 3 },
  stepLimit: 500,
  measures: 0,
  scores: { worst: -500, best: 0, solvedAt: -100 },
  state: ["angles", "speeds"].map((name) => ({ name, type: "f32", count: 2 })),
  reference: acrobotReference,
};
