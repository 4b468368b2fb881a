import type { OnnxModel } from "../../onnx/onnx-model.ts";
import { writeModel } from "../../onnx/write-model.ts";
import { type Tensor, typedView } from "../../protocol/tensor.ts";
import { listCalibrated, withOutputs } from "../compression/calibrated-activations.ts";
import type { ActivationRange } from "../compression/quantise-static.ts";
import type { NetworkOpener } from "./open-network.ts";
import type { QuestionSource } from "./question-source.ts";

type Range = { -readonly [Bound in keyof ActivationRange]: number };

/** The least and the largest number of every activation that is to be quantised, over all questions. */
export async function findRanges(
  model: OnnxModel,
  source: QuestionSource,
  open: NetworkOpener,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ActivationRange>> {
  const names = listCalibrated(model);
  const asked = new Set(model.inputs.map(({ name }) => name));
  const computed = names.filter((name) => !asked.has(name));
  const network = await open(writeModel(withOutputs(model, computed)));
  const ranges = new Map(names.map((name): [string, Range] => [name, { min: Infinity, max: -Infinity }]));
  try {
    for (const question of source.questions()) {
      signal.throwIfAborted();
      for (const tensor of [...question, ...(await network.ask(question))]) widen(ranges.get(tensor.name), tensor);
    }
  } finally {
    await network.close();
  }
  return ranges;
}

function widen(range: Range | undefined, tensor: Tensor): void {
  if (range === undefined || tensor.dtype === "string") return;
  for (const each of typedView(tensor)) {
    const value = Number(each);
    if (!(value >= range.min)) range.min = value;
    if (!(value <= range.max)) range.max = value;
  }
}
