import type { HeldOut } from "../../protocol/held-out-file.ts";
import { type Tensor, typedView } from "../../protocol/tensor.ts";
import type { Lessons } from "../compression/distillation/distil.ts";
import type { NetworkOpener } from "./open-network.ts";
import { type QuestionSource, takeRows } from "./question-source.ts";

/** A network that teaches, and the rows of its data that it does so with. */
interface Teacher {
  readonly file: Uint8Array;
  readonly heldOut: HeldOut | null;
  readonly rows: readonly number[];
}

/** What a network answers to every question by its first output, and the classes of the rows where its data have one each. */
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
  return { inputs: joinFloats(inputs), logits: joinFloats(logits), labels };
}

function joinFloats(tensors: readonly Tensor[]): Float32Array {
  return Float32Array.from(tensors.flatMap((tensor) => Array.from(typedView(tensor) as ArrayLike<number>, Number)));
}
