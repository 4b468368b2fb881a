import type { EnvironmentSpec } from "../environment-spec.ts";
import { cartpoleReference } from "./cartpole.reference.ts";

/** A pole on a cart that is pushed left or right; one point for each step that it stays up. */
export const cartpole: EnvironmentSpec = {
  name: "cartpole",
  description: "Keep a pole upright on a cart that is pushed left or right (Gymnasium's CartPole-v1)",
  folder: new URL(".", import.meta.url),
  file: "cartpole.wgsl",
  assembly: { file: "cartpole.as", lanes: 4 },
  observationSize: 4,
  action: { kind: "discrete", count: 2 },
  stepLimit: 500,
  measures: 0,
  scores: { worst: 0, best: 500, solvedAt: 475 },
  state: ["x", "xSpeed", "angle", "angleSpeed"].map((name) => ({ name, type: "f32", count: 1 })),
  reference: cartpoleReference,
};
