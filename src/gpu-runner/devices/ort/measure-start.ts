import type { Tensor } from "../../../protocol/wire/tensor.ts";
import type { ModelContent } from "./model-paths.ts";
import type { OrtBackend } from "./ort-backend.ts";
import { tryProvider } from "./try-provider.ts";

const MODEL_KEY = "measure-start";

/**
 * Milliseconds from the idle runtime to a loaded model, and from there to its first answer. For a process of its own,
 * which has not loaded the model before.
 */
export async function measureStart(
  ort: OrtBackend,
  model: ModelContent,
  tensors: readonly Tensor[],
  threads?: number,
): Promise<{ loadMs: number; firstAnswerMs: number }> {
  await tryProvider(ort);
  const { loadMs } = await ort.load(MODEL_KEY, model, threads);
  const loadedAtMs = performance.now();
  await ort.run(MODEL_KEY, tensors);
  const firstAnswerMs = performance.now() - loadedAtMs;
  await ort.unload(MODEL_KEY);
  return { loadMs, firstAnswerMs };
}
