import type { EnvironmentSpec } from "../environment-spec.ts";
import { hardSwingUpReference, swingUpReference } from "./cartpole-swing-up.reference.ts";

/** A pole that is swung up from near rest and held at the middle of the track. */
export const cartpoleSwingUp: EnvironmentSpec = {
  name: "cartpole-swing-up",
  description: "Swing a pole up by pushing its cart, from near rest (EvoJAX's easy CartPole)",
  folder: new URL(".", import.meta.url),
  file: "cartpole-swing-up.wgsl",
  assembly: { file: "cartpole-swing-up.as", lanes: 4 },
  observationSize: 5,
  action: { kind: "continuous", size: 1, low: -1, high: 1 },
  stepLimit: 1_000,
  measures: 0,
  scores: { worst: 0, best: 1_000, solvedAt: 900 },
  state: ["x", "xSpeed", "angle", "angleSpeed"].map((name) => ({ name, type: "f32", count: 1 })),
  constants: { HARD: false },
  reference: swingUpReference,
};

/** The same from wherever it may be and however fast. */
export const cartpoleSwingUpHard: EnvironmentSpec = {
  ...cartpoleSwingUp,
  name: "cartpole-swing-up-hard",
  description: "Swing a pole up by pushing its cart, from any place at any speed (EvoJAX's hard CartPole)",
  scores: { worst: 0, best: 1_000, solvedAt: 600 },
  constants: { HARD: true },
  reference: hardSwingUpReference,
};
