import { readFile } from "node:fs/promises";
import type { InferenceSession } from "onnxruntime-node";
import { readModel } from "../../../onnx/read-model.ts";

const OPTIONS: InferenceSession.SessionOptions = {
  interOpNumThreads: 1,
  executionMode: "sequential",
  graphOptimizationLevel: "all",
  logSeverityLevel: 3,
};

const NOTHING = new Uint8Array();
const ROUNDS = new Set(["QuantizeLinear", "DynamicQuantizeLinear"]);

/**
 * What a session of a file is opened with. Where whole numbers are only how weights are stored, they become floats once,
 * when the file is loaded, and not at every request as they do where the runtime looks for networks of whole numbers.
 */
export async function sessionOptionsOf(model: string | Uint8Array): Promise<InferenceSession.SessionOptions> {
  const operators = listOperators(typeof model === "string" ? await readFile(model).catch(() => NOTHING) : model);
  const storesWeights = operators.has("DequantizeLinear") && [...ROUNDS].every((each) => !operators.has(each));
  return storesWeights ? { ...OPTIONS, extra: { session: { disable_quant_qdq: "1" } } } : OPTIONS;
}

/** None of a file that only the runtime can read, or nobody: it says what is wrong. */
function listOperators(file: Uint8Array): Set<string> {
  try {
    return new Set(readModel(file).nodes.map(({ operator }) => operator));
  } catch {
    return new Set();
  }
}
