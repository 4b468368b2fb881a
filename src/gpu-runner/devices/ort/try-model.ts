import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import type { NodePlaces } from "../../../protocol/jobs/calibration.ts";
import { parseJson } from "../../../protocol/wire/parse-json.ts";
import type { Tensor } from "../../../protocol/wire/tensor.ts";
import type { ModelContent } from "./model-paths.ts";
import type { OrtBackend } from "./ort-backend.ts";
import { tryProvider } from "./try-provider.ts";

const MODEL_KEY = "try-model";
const CPU_PROVIDER = "CPUExecutionProvider";

/** Events of ONNX Runtime's profile; a node that ran has its provider and its operator. */
const Profile = z.array(
  z.object({
    cat: z.string(),
    name: z.string(),
    args: z.object({ provider: z.string().optional(), op_name: z.string().optional() }).optional(),
  }),
);

/**
 * Loads a model and answers these tensors; returns which of its nodes ran on the provider, and which on the CPU in its
 * stead, by ONNX Runtime's own profile. For a process of its own: neither loading nor answering may be trusted yet.
 */
export async function tryModel(
  ort: OrtBackend,
  model: ModelContent,
  tensors: readonly Tensor[],
  threads?: number,
): Promise<NodePlaces> {
  await tryProvider(ort);
  const folder = await mkdtemp(join(tmpdir(), "millrace-profile-"));
  try {
    await ort.load(MODEL_KEY, model, threads, join(folder, "nodes"));
    await ort.run(MODEL_KEY, tensors);
    ort.endProfiling(MODEL_KEY);
    await ort.unload(MODEL_KEY);
    const [file] = await readdir(folder);
    return countNodes(Profile.parse(parseJson(await readFile(join(folder, file ?? "nodes"), "utf8"))));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function countNodes(profile: z.infer<typeof Profile>): NodePlaces {
  const onCpu: Record<string, number> = {};
  let onProvider = 0;
  const counted = new Set<string>();
  for (const { cat, name, args } of profile) {
    // Those in a loop ran more than once.
    if (cat !== "Node" || args?.provider === undefined || counted.has(name)) continue;
    counted.add(name);
    const { provider, op_name: operator = "unknown" } = args;
    if (provider === CPU_PROVIDER) onCpu[operator] = (onCpu[operator] ?? 0) + 1;
    else onProvider++;
  }
  return { onProvider, onCpu };
}
