import type { OnnxNode } from "../../onnx/onnx-model.ts";
import { ProblemError } from "../../protocol/problem.ts";

/** The problem of a network that this backend leaves to ONNX Runtime: `invalid-model`, with operator and reason. */
export function unsupported(node: Pick<OnnxNode, "name" | "operator">, reason: string): ProblemError {
  const named = node.name === "" ? node.operator : `${node.operator} (${node.name})`;
  return new ProblemError("invalid-model", `The wgsl backend does not run ${named}: ${reason}.`);
}
