import type { OnnxModel } from "../../../onnx/onnx-model.ts";
import { writeModel } from "../../../onnx/write-model.ts";
import type { HeldOut } from "../../../protocol/models/held-out-file.ts";
import { type Tensor, typedView } from "../../../protocol/wire/tensor.ts";
import type { OrtBackend } from "../../devices/ort/ort-backend.ts";
import type { Lessons } from "../distillation/distil.ts";
import { type ActivationRange, listCalibrated, withOutputs } from "../quantise-static.ts";
import { type QuestionSource, takeRows } from "./question-source.ts";

/** Open network that answers until it is closed. */
export interface OpenNetwork {
  readonly ask: (inputs: readonly Tensor[]) => Promise<Tensor[]>;
  readonly close: () => Promise<void>;
}

/** Opens the file of a network. Throws ProblemError where it cannot be loaded. */
export type NetworkOpener = (file: Uint8Array) => Promise<OpenNetwork>;

/** Opens networks by ONNX Runtime in this process. */
export function openByOrt(ort: Pick<OrtBackend, "load" | "run" | "unload">): NetworkOpener {
  let opened = 0;
  return async (file) => {
    const key = `variant ${opened++}`;
    await ort.load(key, file);
    return {
      ask: async (inputs) => (await ort.run(key, inputs)).tensors,
      close: () => ort.unload(key),
    };
  };
}

/** Teacher network, and the rows of its data for the lessons. */
interface Teacher {
  readonly file: Uint8Array;
  readonly heldOut: HeldOut | null;
  readonly rows: readonly number[];
}

/**
 * First output of a network for every question, and the classes of the rows where the data have one each. A row of at
 * least two numbers counts as logits of classes, unless the data have another metric than accuracy.
 */
export async function collectLessons(
  { file, heldOut, rows }: Teacher,
  source: QuestionSource,
  open: NetworkOpener,
  signal: AbortSignal,
): Promise<Lessons> {
  const network = await open(file);
  const [inputs, logits]: [Tensor[], Tensor[]] = [[], []];
  try {
    for (const question of source.questions()) {
      signal.throwIfAborted();
      inputs.push(question[0]!);
      logits.push((await network.ask(question))[0]!);
    }
  } finally {
    await network.close();
  }
  const isOfClasses = heldOut?.metric === "accuracy" && heldOut.target.shape.length === 1;
  const labels = isOfClasses ? takeRows(heldOut.target, rows).values : null;
  const { shape } = logits[0]!;
  const areClasses = isOfClasses || (heldOut === null && shape.length === 2 && shape[1]! > 1);
  return { inputs: joinFloats(inputs), logits: joinFloats(logits), areClasses, labels };
}

function joinFloats(tensors: readonly Tensor[]): Float32Array {
  return Float32Array.from(tensors.flatMap((tensor) => Array.from(typedView(tensor) as ArrayLike<number>, Number)));
}

type Range = { -readonly [Bound in keyof ActivationRange]: number };

/** Least and largest number of every activation to quantise, over all questions. */
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
