import { type OnnxModel } from "../../../onnx/onnx-model.ts";
import { readModel } from "../../../onnx/read-model.ts";
import { withTensorOutputs } from "../../../onnx/tensor-outputs.ts";
import { UnreadableModel } from "../../../onnx/each-field.ts";
import { writeModel } from "../../../onnx/write-model.ts";
import type { CompressionResult } from "../../../protocol/jobs/compression.ts";
import { readHeldOut } from "../../../protocol/models/held-out-file.ts";
import type { JobProgress } from "../../../protocol/jobs/job.ts";
import type { TensorSpec } from "../../../protocol/models/model.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import type { Recipe } from "../../../protocol/models/variant.ts";
import type { CompressionReport } from "../compression-report.ts";
import { applyRecipe } from "./apply-recipe.ts";
import { collectLessons, findRanges, type NetworkOpener } from "./ask-network.ts";
import { describeComputation } from "./describe-computation.ts";
import { openJudge } from "./judge-variant.ts";
import { countSeen, heldOutQuestions, seededQuestions, splitRows } from "./question-source.ts";

/** Input of the call `compress`. */
export interface CompressRequest {
  /** The version's own file. */
  readonly file: Uint8Array;
  readonly inputs: readonly TensorSpec[];
  readonly recipe: Recipe;
  /** The version's data as a file, or null. */
  readonly data: Uint8Array | null;
}

/** Output of the call. */
export interface CompressOutcome
  extends
    Pick<CompressionResult, "chosenEnergy" | "calibration" | "computation" | "fidelity">,
    Pick<CompressionReport, "done" | "left"> {
  readonly file: Uint8Array<ArrayBuffer>;
}

const PHASES = ["parent", "compress", "measure"] as const;
const SEEN_SEED = 1;

/**
 * Makes a smaller file of a network by a recipe, and measures it against the network. Blocks its event loop for long,
 * so it runs in a process of its own. Throws ProblemError where the network or its data do not suit the recipe.
 */
export async function compress(
  { file, inputs, recipe, data }: CompressRequest,
  open: NetworkOpener,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (progress: JobProgress) => void },
): Promise<CompressOutcome> {
  const reportPhase = (phase: (typeof PHASES)[number]) =>
    onProgress({ phase, done: PHASES.indexOf(phase), total: PHASES.length });
  const model = readParent(file);
  const heldOut = data === null ? null : readHeldOut(data);
  const split = splitRows(heldOut?.rows ?? 0, recipe);
  reportPhase("parent");
  const judge = await openJudge(file, inputs, { heldOut, rows: split.measured }, open, signal);
  const seen = countSeen(recipe);
  const source =
    heldOut === null ? seededQuestions(inputs, SEEN_SEED, seen) : heldOutQuestions(heldOut, inputs, split.seen);
  reportPhase("compress");
  const made = await applyRecipe(model, recipe, {
    judge,
    findRanges: (wanted) => findRanges(wanted, source, open, signal),
    collectLessons: () => collectLessons({ file, heldOut, rows: split.seen }, source, open, signal),
    onEpoch: (done, total) => {
      signal.throwIfAborted();
      onProgress({ phase: "epochs", done, total });
    },
  });
  reportPhase("measure");
  const variant = writeModel(made.model);
  const { done, left } = made.report;
  return {
    file: variant,
    chosenEnergy: made.chosenEnergy,
    calibration: seen === 0 ? null : { rows: source.rows, distribution: source.distribution },
    done,
    left,
    fidelity: await judge(variant),
    computation: await describeComputation(variant),
  };
}

function readParent(file: Uint8Array): OnnxModel {
  try {
    return readModel(withTensorOutputs(file));
  } catch (error) {
    const why = error instanceof UnreadableModel ? error.message : "cannot be read whole";
    throw new ProblemError("invalid-model", `The network cannot be compressed: the file ${why}.`);
  }
}
