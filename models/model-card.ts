import { readFileSync } from "node:fs";
import { z } from "zod";
import { TASK_METRICS } from "../src/stats/score/task/task-metric.ts";
import { ZOO_CATEGORIES } from "./zoo.ts";

/** An interval around an estimate; `method` names its method. */
const Interval = z.strictObject({ level: z.number(), low: z.number(), high: z.number(), method: z.string() });

/** One input or output of the file; a free dimension is -1. */
const CardTensor = z.strictObject({
  name: z.string(),
  dtype: z.literal("float32"),
  shape: z.array(z.number().int().min(-1)),
  meaning: z.string(),
});

const Setting = z.union([z.number(), z.string()]);

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** A figure with its interval, over `n` samples. */
const Estimate = z.strictObject({ value: z.number(), interval: Interval, n: z.number().int().positive() });

const Evaluation = z.strictObject({
  metric: z.string(),
  ...Estimate.shape,
  conditions: z.string(),
  baseline: z.strictObject({ name: z.string().optional(), ...Estimate.shape }),
});
export type Evaluation = z.infer<typeof Evaluation>;

/** The `card.json` next to every model here, in the spirit of Mitchell et al., "Model Cards", 2019. */
export const ModelCard = z.strictObject({
  name: z.string(),
  task: z.string(),
  architecture: z.string(),
  parameters: z.number().int().positive(),
  file: z.strictObject({
    name: z.string(),
    sizeBytes: z.number().int().positive(),
    sha256: Sha256,
    opset: z.number().int(),
  }),
  inputs: z.array(CardTensor).min(1),
  outputs: z.array(CardTensor).min(1),
  data: z.strictObject({
    kind: z.enum(["real", "simulated", "synthesised"]),
    source: z.string(),
    licence: z.string(),
    split: z.string(),
  }),
  training: z.strictObject({
    command: z.string(),
    method: z.string(),
    settings: z.record(z.string(), Setting),
    outcome: z.record(z.string(), Setting),
    versions: z.record(z.string(), z.string()),
  }),
  evaluation: Evaluation,
  intendedUse: z.string(),
  limits: z.array(z.string()),
});
export type ModelCard = z.infer<typeof ModelCard>;

/** The card of a network of the zoo, which has a held-out part beside it. */
export const ZooCard = ModelCard.extend({
  category: z.enum(ZOO_CATEGORIES),
  /** Metric of its answers; models/README.md defines each. */
  metric: z.enum(TASK_METRICS),
  heldOut: z.strictObject({
    file: z.string(),
    sizeBytes: z.number().int().positive(),
    sha256: Sha256,
    rows: z.number().int().positive(),
  }),
  /** Evaluation on all held-out samples, where the file beside it has only some of them. */
  wholeEvaluation: Evaluation.optional(),
});
export type ZooCard = z.infer<typeof ZooCard>;

/** Part of a card that a recipe writes; measure-card.ts measures the rest. */
export const RecipeCard = ZooCard.partial({ parameters: true, file: true, heldOut: true, evaluation: true });
export type RecipeCard = z.infer<typeof RecipeCard>;

/** The JSON file beside a variant's: another file of a model, made from its own. */
export const VariantCard = z.strictObject({
  name: z.string(),
  file: z.strictObject({
    name: z.string(),
    sizeBytes: z.number().int().positive(),
    sha256: Sha256,
  }),
  /** Digest of the file that it was made from. */
  of: Sha256,
  command: z.string(),
  method: z.string(),
  calibrationDigits: z.number().int().positive(),
  accuracy: z.strictObject({ value: z.number(), interval: Interval, n: z.number().int().positive() }),
  /** Share of the held-out samples that it labels as the model's own file does. */
  fidelity: z.number().min(0).max(1),
  versions: z.record(z.string(), z.string()),
});
export type VariantCard = z.infer<typeof VariantCard>;

/**
 * The card of a variant.
 *
 * @throws where there is none, or it is not one.
 */
export function readVariantCard(file: URL): VariantCard {
  return VariantCard.parse(JSON.parse(readFileSync(file, "utf8")));
}

/**
 * The card in a model's folder (a URL that ends in a slash).
 *
 * @throws where there is none, or it is not one.
 */
export function readModelCard(folder: URL): ModelCard {
  return ModelCard.parse(JSON.parse(readFileSync(new URL("card.json", folder), "utf8")));
}

/**
 * The card of a network of the zoo.
 *
 * @throws where there is none, or it is not one.
 */
export function readZooCard(folder: URL): ZooCard {
  return ZooCard.parse(JSON.parse(readFileSync(new URL("card.json", folder), "utf8")));
}
