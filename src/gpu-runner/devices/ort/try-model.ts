import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NodePlaces } from "../../../protocol/jobs/calibration.ts";
import type { Tensor } from "../../../protocol/wire/tensor.ts";
import type { ModelContent } from "./model-paths.ts";
import type { OrtBackend } from "./ort-backend.ts";
import { tryProvider } from "./try-provider.ts";

const MODEL_KEY = "try-model";
const CPU_PROVIDER = "CPUExecutionProvider";

/**
 * Loads a model and answers these tensors; returns which of its nodes ran on the provider, and which on the CPU in its
 * stead, by ONNX Runtime's own profile; null of the CPU provider, which runs them all. For a process of its own: neither
 * loading nor answering may be trusted yet.
 */
export async function tryModel(
  ort: OrtBackend,
  model: ModelContent,
  tensors: readonly Tensor[],
  threads?: number,
): Promise<NodePlaces | null> {
  await tryProvider(ort);
  if (ort.provider === "cpu") {
    await ort.load(MODEL_KEY, model, threads);
    await ort.run(MODEL_KEY, tensors);
    await ort.unload(MODEL_KEY);
    return null;
  }
  const folder = await mkdtemp(join(tmpdir(), "millrace-profile-"));
  try {
    await ort.load(MODEL_KEY, model, threads, join(folder, "nodes"));
    await ort.run(MODEL_KEY, tensors);
    ort.endProfiling(MODEL_KEY);
    await ort.unload(MODEL_KEY);
    const [file] = await readdir(folder);
    return countNodes(await readFile(join(folder, file ?? "nodes"), "utf8"));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Counts by the text of each event: the runtime escapes no names, so a file's own may break the JSON. Only numbers and the
 * runtime's own words follow `"args"`.
 */
function countNodes(profile: string): NodePlaces {
  const onCpu: Record<string, number> = {};
  let onProvider = 0;
  const counted = new Set<string>();
  for (const event of profile.split(/^\{(?="cat" ?:)/m)) {
    const args = event.slice(event.lastIndexOf('"args"'));
    const [, provider] = /"provider" ?: ?"(\w+)"/.exec(args) ?? [];
    const [, name = event] = /"name" ?:(.*)"args"/s.exec(event) ?? [];
    // Those in a loop ran more than once.
    if (!/^"cat" ?: ?"Node"/.test(event) || provider === undefined || counted.has(name)) continue;
    counted.add(name);
    const [, operator = "unknown"] = /"op_name" ?: ?"([^"]+)"/.exec(args) ?? [];
    if (provider === CPU_PROVIDER) onCpu[operator] = (onCpu[operator] ?? 0) + 1;
    else onProvider++;
  }
  return { onProvider, onCpu };
}
