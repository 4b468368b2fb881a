import type { OnnxModel } from "../../../onnx/onnx-model.ts";
import { writeModel } from "../../../onnx/write-model.ts";
import type { Recipe } from "../../../protocol/models/variant.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import { type Compressed, reportOn } from "../compression-report.ts";
import { distil, type Lessons } from "../distillation/distil.ts";
import { decomposeLayers, factorise, truncate } from "../factorise.ts";
import { pruneChannels } from "../prune-channels.ts";
import { prune } from "../prune.ts";
import { quantiseInt4 } from "../quantise-int4.ts";
import { type ActivationRange, quantiseStatic } from "../quantise-static.ts";
import { quantiseWeights } from "../quantise-weights.ts";
import { toFloat16 } from "../to-float16.ts";
import type { VariantJudge } from "./judge-variant.ts";

/** Network at an energy, and its fidelity. */
export interface EnergyTrial {
  readonly fidelity: number;
  /** Whether anything became smaller. */
  readonly saves: boolean;
}

const HIGHEST = 0.9999;
const LOWEST = 0.05;
const STEPS = 8;

/**
 * Trial of least energy with sufficient fidelity and a saving, by bisection, which assumes that fidelity grows with
 * energy. Null where there is none.
 */
export async function searchEnergy<Trial extends EnergyTrial>(
  tryEnergy: (energy: number) => Promise<Trial>,
  minFidelity: number,
): Promise<{ readonly energy: number; readonly trial: Trial } | null> {
  let best: { readonly energy: number; readonly trial: Trial } | null = null;
  let [below, above] = [LOWEST, HIGHEST];
  for (let step = 0; step < STEPS; step++) {
    // Geometric mean of the dropped shares, since most networks tolerate little.
    const energy = 1 - Math.sqrt((1 - below) * (1 - above));
    const trial = await tryEnergy(energy);
    const isGood = trial.fidelity >= minFidelity;
    if (isGood && trial.saves) best = { energy, trial };
    // A trial without a saving has too much energy, whatever its fidelity.
    if (isGood || !trial.saves) above = energy;
    else below = energy;
  }
  return best;
}

/** Data that recipes need. */
export interface RecipeMeans {
  /** Ranges of these activations. */
  readonly findRanges: (model: OnnxModel) => Promise<ReadonlyMap<string, ActivationRange>>;
  readonly judge: VariantJudge;
  /** Training data of a student. */
  readonly collectLessons: () => Promise<Lessons>;
  readonly onEpoch: (done: number, epochs: number) => void;
}

/** Network made by a recipe, and the energy where it was searched. */
export interface MadeVariant extends Compressed {
  readonly chosenEnergy: number | null;
}

/** Makes a network smaller by a recipe. Throws `invalid-model` where the recipe changes nothing. */
export async function applyRecipe(model: OnnxModel, recipe: Recipe, means: RecipeMeans): Promise<MadeVariant> {
  const made = await makeVariant(model, recipe, means);
  if (made.report.done.length > 0) return made;
  const reasons = [...new Set(made.report.left.map(({ why }) => why))].slice(0, 3).join("; ");
  const detail = `The recipe ${recipe.method} changes nothing of this network: ${reasons || "it has no layer of weights"}.`;
  throw new ProblemError("invalid-model", detail);
}

async function makeVariant(model: OnnxModel, recipe: Recipe, means: RecipeMeans): Promise<MadeVariant> {
  switch (recipe.method) {
    case "fp16":
      return asMade(toFloat16(model));
    case "int8":
      if (recipe.activations !== "static") return asMade(quantiseWeights(model, recipe.activations));
      return asMade(quantiseStatic(model, await means.findRanges(model)));
    case "int4":
      return asMade(quantiseInt4(model, recipe));
    case "low-rank":
      if (recipe.rank !== undefined) return asMade(factorise(model, { rank: recipe.rank }));
      if (recipe.energy !== undefined) return asMade(factorise(model, { energy: recipe.energy }));
      return factoriseToFidelity(model, recipe.minFidelity!, means);
    case "pruned":
      if (recipe.channels !== undefined) return asMade(pruneChannels(model, { share: recipe.channels }));
      return asMade(prune(model, { sparsity: recipe.sparsity! }));
    case "distilled":
      return teachStudent(model, recipe, means);
  }
}

const asMade = (compressed: Compressed): MadeVariant => ({ ...compressed, chosenEnergy: null });

async function teachStudent(
  teacher: OnnxModel,
  { student, ...options }: Extract<Recipe, { method: "distilled" }>,
  { collectLessons, onEpoch }: RecipeMeans,
): Promise<MadeVariant> {
  const lessons = await collectLessons();
  const reportEpoch = (epoch: number) => onEpoch(epoch + 1, options.epochs);
  const { model, losses } = await distil(teacher, lessons, { ...options, recipe: student }, reportEpoch).catch(
    nameStudent,
  );
  const [first, last] = [losses[0], losses.at(-1)].map((loss) => loss?.toPrecision(3));
  const what = `a student instead of the network; its loss went from ${first} to ${last} in ${losses.length} epochs`;
  return asMade(reportOn(teacher, model, [{ layer: model.name || "network", operator: "network", what }], []));
}

/** Points a problem of a student's layers to that field of the recipe. */
function nameStudent(error: unknown): never {
  if (!(error instanceof ProblemError) || error.problem.errors === undefined) throw error;
  const { code, detail, errors } = error.problem;
  const named = errors.map((each) => ({ ...each, pointer: each.pointer.replace("#/recipe/", "#/recipe/student/") }));
  throw new ProblemError(code, detail, { errors: named });
}

async function factoriseToFidelity(
  model: OnnxModel,
  minFidelity: number,
  { judge }: RecipeMeans,
): Promise<MadeVariant> {
  const decomposed = decomposeLayers(model);
  const found = await searchEnergy(async (energy) => {
    const made = truncate(model, decomposed, { energy });
    const saves = made.report.done.length > 0;
    return { made, saves, fidelity: saves ? (await judge(writeModel(made.model))).value : 1 };
  }, minFidelity);
  if (found !== null) return { ...found.trial.made, chosenEnergy: found.energy };
  const detail = `No rank that makes this network smaller keeps a fidelity of ${minFidelity}.`;
  throw new ProblemError("invalid-model", detail);
}
