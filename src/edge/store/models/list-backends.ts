import { WGSL_EXPANSIONS, WGSL_OPERATORS } from "../../../onnx/operators.ts";
import type { BackendSupport, ModelVersion } from "../../../protocol/models/model.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";

type Facts = Pick<ModelVersion, "inputs" | "outputs" | "edgeParameters" | "summary" | "files">;

/** Operators of a network that the edge may compute by itself; `readDenseModel` decides which are. */
const DENSE_OPERATORS: ReadonlySet<string> = new Set(
  "Gemm MatMul Add Sub Mul Relu LeakyRelu Tanh Sigmoid Softmax Flatten Reshape Identity Constant".split(" "),
);
const WGSL: ReadonlySet<string> = new Set([...WGSL_OPERATORS, ...WGSL_EXPANSIONS]);

/**
 * Backends that may serve a network, and the first operator that stops each of the others, as the file tells. Each
 * calibration then proves it by running. ONNX Runtime computes on its CPU provider any operator that a GPU's provider
 * lacks, and the calibration names those. What is said here of `ort-webgpu` holds for the other ones: their names come
 * only with placements, since clients of earlier releases refuse an answer with a backend that they do not know.
 */
export function listBackends(facts: Facts): BackendSupport[] {
  if (facts.summary === null) return [];
  const { operators } = facts.summary;
  const large = facts.files.length === 0 ? null : `it reads one file of at most ${LIMITS.modelBytes} bytes`;
  const ofEdge = facts.edgeParameters === null ? whyNotDense(operators) : null;
  return [
    { backend: "ort-cpu", reason: null },
    { backend: "ort-webgpu", reason: null },
    { backend: "wgsl", reason: large ?? strangerOf(operators, WGSL) ?? textTensorOf(facts) },
    { backend: "edge-wasm", reason: large ?? ofEdge },
  ];
}

function strangerOf(operators: Readonly<Record<string, number>>, known: ReadonlySet<string>): string | null {
  const stranger = Object.keys(operators).find((name) => !known.has(name));
  return stranger === undefined ? null : `it does not compute ${stranger}`;
}

/** All numbers are computed in float32; whole ones are kept up to 2²⁴. */
function textTensorOf({ inputs, outputs }: Facts): string | null {
  const texts = [...inputs, ...outputs].find(({ dtype }) => dtype === "string");
  return texts === undefined ? null : `${texts.name} is ${texts.dtype}`;
}

function whyNotDense(operators: Readonly<Record<string, number>>): string {
  const reason = "the network is more than a chain of dense layers from one float32 input to one float32 output";
  return strangerOf(operators, DENSE_OPERATORS) ?? reason;
}
