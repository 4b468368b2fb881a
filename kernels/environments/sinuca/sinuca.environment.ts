import type { EnvironmentSpec } from "../environment-spec.ts";
import { createSinuca, SINUCA, type SinucaMode } from "./sinuca.reference.ts";

const SHOTS = 3;

/** As the figure that was published for it: coarse steps, through which balls pass each other. */
export const VIVA: SinucaMode = {
  explicit: true,
  fastest: 50,
  substeps: 200,
  longestSeconds: 1 / 60,
  longestMove: Number.POSITIVE_INFINITY,
  cueSpread: 0,
};

/** No ball moves by half a radius at a time, and everything comes to rest. */
export const PHYSICAL: SinucaMode = {
  explicit: false,
  fastest: 8,
  substeps: 16_384,
  longestSeconds: 1 / 60,
  longestMove: 0.0125,
  cueSpread: 0.2,
};

export const sinucaViva = specify("sinuca-viva", "coarse steps, for comparison with published figures", VIVA);
export const sinucaPhysical = specify("sinuca-physical", "fine steps, through which nothing tunnels", PHYSICAL);

function specify(name: string, remark: string, mode: SinucaMode): EnvironmentSpec {
  return {
    name,
    description: `Pot balls in three shots of billiards (${remark})`,
    folder: new URL(".", import.meta.url),
    file: "sinuca.wgsl",
    assembly: { file: "sinuca.as", lanes: 4, spareVectors: 6 * SINUCA.balls },
    observationSize: 8,
    action: { kind: "continuous", size: 3, low: 0, high: 1 },
    stepLimit: SHOTS,
    measures: 0,
    scores: { worst: -SHOTS, best: SHOTS, solvedAt: null },
    state: [
      { name: "x", type: "f32", count: SINUCA.balls },
      { name: "z", type: "f32", count: SINUCA.balls },
      { name: "onTable", type: "u32", count: 1 },
    ],
    constants: {
      EXPLICIT: mode.explicit ? 1 : 0,
      FASTEST: mode.fastest,
      SUBSTEPS: mode.substeps,
      SECONDS: mode.longestSeconds,
      LONGEST_MOVE: mode.explicit ? 0 : mode.longestMove,
      CUE_SPREAD: mode.cueSpread,
    },
    reference: createSinuca(mode),
  };
}
