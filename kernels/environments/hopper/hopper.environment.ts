import type { EnvironmentSpec } from "../environment-spec.ts";
import { BODY_NUMBERS } from "../planar-body/planar-body.reference.ts";
import { writePlanarConstants } from "../planar-body/planar-model.ts";
import { HOPPER } from "./hopper.model.ts";
import { hopperReference } from "./hopper.reference.ts";

/** One leg that hops forward: a point for each step that it stays up, and its speed. */
export const hopper: EnvironmentSpec = {
  name: "hopper",
  description: "Hop forward on one leg of three joints (the task of Gymnasium's Hopper-v5 in mechanics of our own)",
  folder: new URL(".", import.meta.url),
  file: "hopper.wgsl",
  shared: [new URL("../planar-body/planar-body.wgsl", import.meta.url)],
  observationSize: 11,
  action: { kind: "continuous", size: 3, low: -1, high: 1 },
  stepLimit: 1_000,
  measures: 0,
  scores: { worst: 0, best: 3_800, solvedAt: null },
  state: [{ name: "bodies", type: "f32", count: BODY_NUMBERS * HOPPER.bodies.length }],
  constants: { ...writePlanarConstants(HOPPER), HEIGHT: `f32(${HOPPER.bodies[0]!.centre[1]})` },
  reference: hopperReference,
};
