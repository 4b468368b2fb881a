import type { EnvironmentSpec } from "../environment-spec.ts";
import { xorReference } from "./xor.reference.ts";

/** Exclusive or: the return is 4 less the sum of the squared errors of its four cases. */
export const xor: EnvironmentSpec = {
  name: "xor",
  description: "Tell the exclusive or of two bits, one of the four cases a step; the return is 4 − Σ error²",
  folder: new URL(".", import.meta.url),
  file: "xor.wgsl",
  assembly: { file: "xor.as", lanes: 4 },
  observationSize: 2,
  action: { kind: "continuous", size: 1, low: 0, high: 1 },
  stepLimit: 4,
  measures: 0,
  // NEAT's implementations stop at 3.9.
  scores: { worst: 0, best: 4, solvedAt: 3.9 },
  state: [{ name: "caseIndex", type: "u32", count: 1 }],
  reference: xorReference,
};
