import { drawNoise } from "../../../kernels/rollout/noise.reference.ts";
import { multiplyHigh, philox4x32 } from "../../stats/philox.ts";
import type { Emission } from "./archive.ts";

/** Draws of parents; see emit.wgsl. */
const PARENT_STREAM = 5;

interface EmittedRows extends Emission {
  readonly members: number;
  readonly parameters: number;
}

/**
 * Children of random elites, members × parameters: x₁ + σ·N(0, I) + σ_line·(x₂ − x₁)·N(0, 1) within the bounds
 * (Vassiliades and Mouret, GECCO 2018; without a line the Gaussian operator). In f64 by the words that emit.wgsl draws.
 */
export function emitRows(
  elites: Float32Array,
  { seed, generation, sigma, lineSigma, low, high, members, parameters }: EmittedRows,
): Float32Array<ArrayBuffer> {
  const rows = new Float32Array(members * parameters);
  const filled = elites.length / parameters;
  // The block of noise behind those of the parameters is for the step along the line.
  const lineAt = 4 * Math.ceil(parameters / 4);
  for (let member = 0; member < members; member++) {
    const [first, second] = philox4x32([member, generation, 0, 0], [seed, PARENT_STREAM]);
    const [one, other] = [multiplyHigh(first, filled) * parameters, multiplyHigh(second, filled) * parameters];
    const noise = drawNoise({ seed, generation, mirrored: false }, member, lineAt + 1);
    const along = lineSigma * noise[lineAt]!;
    for (let parameter = 0; parameter < parameters; parameter++) {
      const start = elites[one + parameter]!;
      const value = start + sigma * noise[parameter]! + along * (elites[other + parameter]! - start);
      rows[member * parameters + parameter] = Math.min(Math.max(value, low), high);
    }
  }
  return rows;
}
