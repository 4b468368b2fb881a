import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { ModelCard } from "../model-card.ts";
import { countOnnxParameters } from "../onnx-parameter-count.ts";
import { ONNX_OPSET } from "../onnx-mlp-writer.ts";
import { bootstrapMean } from "./bootstrap-mean.ts";
import type { EpisodeResult } from "./evaluate.ts";
import type { OpenEsSettings } from "./open-es.ts";
import { EPISODES_PER_MEMBER, SELECTION_EPISODES, STOP_RETURN } from "./train-policy.ts";
import type { TrainedPolicy } from "./train-policy.ts";

export type Measured = {
  /** The bytes of cartpole.onnx. */
  model: Uint8Array;
  settings: OpenEsSettings;
  trained: TrainedPolicy;
  /** Episodes of the file, on seeds that neither trained nor chose it. */
  report: readonly EpisodeResult[];
  /** Episodes of the random policy. */
  baseline: readonly EpisodeResult[];
};

/** The content of card.json, from what was measured. */
export function describePolicy(measured: Measured): ModelCard {
  const { model } = measured;
  return {
    name: "cartpole",
    task: "keeps the pole of CartPole-v1 upright",
    architecture: "dense 4-16, tanh, dense 16-2",
    parameters: countOnnxParameters(model),
    file: {
      name: "cartpole.onnx",
      sizeBytes: model.length,
      sha256: createHash("sha256").update(model).digest("hex"),
      opset: ONNX_OPSET,
    },
    inputs: [
      {
        name: "observation",
        dtype: "float32",
        shape: [-1, 4],
        meaning: "cart position (m), cart velocity (m/s), pole angle (rad), pole angular velocity (rad/s), as they are",
      },
    ],
    outputs: [
      {
        name: "logits",
        dtype: "float32",
        shape: [-1, 2],
        meaning: "preference for pushing left (0) and right (1); take the higher, 0 on a tie",
      },
    ],
    data: {
      kind: "simulated",
      source: "the environment in cartpole.ts, Gymnasium's CartPole-v1 in f64",
      licence: "none needed: no data but what the simulation makes",
      split: "episode seeds of training, of the stopping rule and of the report come from ranges that never meet",
    },
    training: describeTraining(measured),
    evaluation: describeEvaluation(measured),
    intendedUse: "a small real policy for demonstrations, conformance checks and evaluation benchmarks",
    limits: [
      "trained from starts within ±0.05 of upright rest only; it has never had to recover from a large swing",
      "trained on episodes of at most 500 steps; it may drift off the track in longer ones",
      "one search from one seed; other seeds take other numbers of generations",
      "the physics is the ideal one: no friction, no noise, no delay",
    ],
  };
}

function describeTraining({ settings, trained }: Measured): ModelCard["training"] {
  return {
    command: `node models/cartpole/train.ts --seed ${settings.seed}`,
    method: "OpenES: mirrored sampling, centred ranks, Adam; all members of a generation share their episodes",
    settings: {
      ...settings,
      episodesPerMember: EPISODES_PER_MEMBER,
      selectionEpisodes: SELECTION_EPISODES,
      stopReturn: STOP_RETURN,
    },
    outcome: {
      solvedAtGeneration: trained.solvedAtGeneration,
      generations: trained.generations,
      memberSteps: trained.memberSteps,
    },
    versions: { node: process.versions.node, "onnxruntime-node": onnxRuntimeVersion() },
  };
}

function describeEvaluation({ report, baseline }: Measured): ModelCard["evaluation"] {
  const held = report.filter(({ truncated, terminated }) => truncated && !terminated).length;
  return {
    metric: "mean return over fresh episodes (steps, at most 500)",
    ...describeReturns(report),
    conditions:
      `the written file, ONNX Runtime CPU provider, float32, environment in f64; ` +
      `${held} of ${report.length} episodes stood to the limit`,
    baseline: { name: "random policy", ...describeReturns(baseline) },
  };
}

function describeReturns(results: readonly EpisodeResult[]) {
  const { mean, low, high } = bootstrapMean(results.map((result) => result.return));
  const method = "percentile bootstrap, 2,000 resamples";
  return { value: mean, interval: { level: 0.95, low, high, method }, n: results.length };
}

function onnxRuntimeVersion(): string {
  const manifest = new URL("../../node_modules/onnxruntime-node/package.json", import.meta.url);
  return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
}
