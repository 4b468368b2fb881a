import type { MeasuredFidelity } from "../../../protocol/models/variant.ts";
import type { HeldOut } from "../../../protocol/models/held-out-file.ts";
import type { TensorSpec } from "../../../protocol/models/model.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import { type Tensor, typedView } from "../../../protocol/wire/tensor.ts";
import { compareTask, isHigherBetter, isTaskMetric } from "../../../stats/score/task/task-metric.ts";
import { measureFidelity, measureSameTop, relativeError } from "../../networks/compare-outputs.ts";
import type { NetworkOpener } from "./ask-network.ts";
import { heldOutQuestions, type QuestionSource, seededQuestions, takeRows } from "./question-source.ts";

/** Measures a variant's file against its parent's. */
export type VariantJudge = (file: Uint8Array) => Promise<MeasuredFidelity>;

/** Evidence for a judgement: these rows of the version's data, or none. */
export interface Evidence {
  readonly heldOut: HeldOut | null;
  readonly rows: readonly number[];
}

/** Number of inputs for comparisons without data; their seeds differ from those for ranges. */
const COMPARED_INPUTS = 128;
const COMPARED_SEED = 1_000_001;
const PLAN = { seed: 1, resamples: 2_000, work: 2e8 };

/**
 * Asks the parent once; then a variant is judged by the task's own metric where there are data, otherwise by agreement.
 */
export async function openJudge(
  parent: Uint8Array,
  inputs: readonly TensorSpec[],
  { heldOut, rows }: Evidence,
  open: NetworkOpener,
  signal: AbortSignal,
): Promise<VariantJudge> {
  const source =
    heldOut === null
      ? seededQuestions(inputs, COMPARED_SEED, COMPARED_INPUTS)
      : heldOutQuestions(heldOut, inputs, rows);
  const answers = (file: Uint8Array) => askAll(file, source, open, signal);
  const originals = await answers(parent);
  if (heldOut === null) return async (file) => compareAnswers(originals, await answers(file), source);
  return async (file) => compareByMetric(heldOut, rows, originals, await answers(file));
}

async function askAll(
  file: Uint8Array,
  source: QuestionSource,
  open: NetworkOpener,
  signal: AbortSignal,
): Promise<Tensor[][]> {
  const network = await open(file);
  try {
    const answers: Tensor[][] = [];
    for (const question of source.questions()) {
      signal.throwIfAborted();
      answers.push(await network.ask(question));
    }
    return answers;
  } finally {
    await network.close();
  }
}

/** Compares first outputs. A reconstruction is compared with the first input. */
function compareByMetric(
  heldOut: HeldOut,
  rows: readonly number[],
  originals: readonly Tensor[][],
  answers: readonly Tensor[][],
): MeasuredFidelity {
  const { metric } = heldOut;
  if (!isTaskMetric(metric))
    throw new ProblemError("backend-failed", `The data's metric '${metric}' is not known here.`);
  const [target, input] = [heldOut.target, [...heldOut.inputs.values()][0]!].map((tensor) => takeRows(tensor, rows));
  try {
    const outputs = { a: joinOutputs(originals), b: joinOutputs(answers) };
    const { a: parent, b: variant, difference } = compareTask(metric, outputs, target!, input!, PLAN);
    const value = shareOf(parent, variant, isHigherBetter(metric));
    return { basis: "metric", value, metric, rows: rows.length, parent, variant, difference };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ProblemError("backend-failed", `The data do not fit the outputs of the network: ${error.message}.`);
  }
}

/** Value of the variant as a share of its parent's, or inverted for errors; 1 where it is as good or better. */
function shareOf(parent: number, variant: number, isHigher: boolean): number {
  if (isHigher ? variant >= parent : variant <= parent) return 1;
  const share = isHigher ? variant / parent : parent / variant;
  return Math.min(1, Math.max(0, share));
}

function joinOutputs(answers: readonly Tensor[][]) {
  const parts = answers.map(([first]) => first!);
  const values = Float32Array.from(parts.flatMap((part) => Array.from(typedView(part) as ArrayLike<number>, Number)));
  const rows = parts.reduce((sum, { shape }) => sum + (shape[0] ?? 1), 0);
  return { shape: [rows, ...(parts[0]?.shape.slice(1) ?? [])], values };
}

/** Comparison without known correct answers. */
function compareAnswers(
  originals: readonly Tensor[][],
  answers: readonly Tensor[][],
  { rows, distribution }: QuestionSource,
): MeasuredFidelity {
  return {
    basis: "agreement",
    value: measureFidelity(originals, answers),
    inputs: rows,
    distribution,
    sameTop: measureSameTop(originals, answers),
    relativeError: relativeError(originals.flat(), answers.flat()),
  };
}
