import type { EnvironmentSpec } from "../environment-spec.ts";
import { BODY_NUMBERS } from "../planar-body/planar-body.reference.ts";
import { writePlanarConstants } from "../planar-body/planar-model.ts";
import { CHEETAH } from "./cheetah.model.ts";
import { cheetahReference } from "./cheetah.reference.ts";

/** Two legs of three joints each that run forward: speed less effort. */
export const cheetah: EnvironmentSpec = {
  name: "cheetah",
  description:
    "Run forward on two legs of three joints (the task of Gymnasium's HalfCheetah-v5 in mechanics of our own)",
  folder: new URL(".", import.meta.url),
  file: "cheetah.wgsl",
  shared: [new URL("../planar-body/planar-body.wgsl", import.meta.url)],
  observationSize: 17,
  action: { kind: "continuous", size: 6, low: -1, high: 1 },
  stepLimit: 1_000,
  measures: 0,
  scores: { worst: 0, best: 4_800, solvedAt: null },
  state: [{ name: "bodies", type: "f32", count: BODY_NUMBERS * CHEETAH.bodies.length }],
  constants: { ...writePlanarConstants(CHEETAH), HEIGHT: `f32(${CHEETAH.bodies[0]!.centre[1]})` },
  reference: cheetahReference,
};
