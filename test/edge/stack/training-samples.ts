import { FRAME_PIXELS, type RolloutEnvironment } from "../../../src/protocol/fleet/rollout-environment.ts";
import { type TrainingResult, TrainingSpec } from "../../../src/protocol/jobs/training.ts";
import { calibrationResult } from "./samples.ts";

/** An environment such as runners announce. */
export const balance: RolloutEnvironment = {
  name: "balance",
  description: "four numbers, two actions",
  observationSize: 4,
  action: { kind: "discrete", count: 2 },
  stepLimit: 500,
  measures: 0,
  scores: { worst: 0, best: 500, solvedAt: 475 },
  digest: `sha256:${"e".repeat(64)}`,
};

/** One that shows frames. */
export const pictures: RolloutEnvironment = {
  ...balance,
  name: "pictures",
  observationSize: FRAME_PIXELS,
  frames: true,
};

export const trainingInput = {
  kind: "training",
  environment: "balance",
  network: { kind: "mlp", hidden: [3] },
  algorithm: { name: "openes", population: 8 },
} as const;

/** A runner's result of a training that solved it after ten generations. */
export function trainingResult(changes: Partial<TrainingResult> = {}): TrainingResult {
  const { network, algorithm } = TrainingSpec.parse(trainingInput);
  const { environment } = calibrationResult("").placements[0]!;
  return {
    kind: "training",
    task: { name: "balance", digest: balance.digest! },
    algorithm,
    network,
    generations: 10,
    solvedAtGeneration: 10,
    curve: [
      { generation: 5, steps: 4_000, best: 300, mean: 120, fresh: 250 },
      { generation: 10, steps: 9_000, best: 500, mean: 400, fresh: 490 },
    ],
    best: { mean: { value: 488, low: 480, high: 496 }, episodes: 100, seed: 1 },
    resumedFrom: null,
    published: null,
    qualityDiversity: null,
    throughput: {
      backend: "cpu-simd",
      chosenFrom: [],
      steps: 9_000,
      evaluations: 1_280,
      durationMs: 100,
      stepsPerSecond: 90_000,
      evaluationsPerSecond: 12_800,
      meanEpisodeLength: 7,
      parameters: 23,
      members: 8,
      inferenceIncluded: true,
    },
    artifacts: [],
    environment,
    ...changes,
  };
}
