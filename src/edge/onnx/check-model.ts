import { inferShapes } from "../../onnx/infer-shapes.ts";
import type { OnnxModel, OnnxNode } from "../../onnx/onnx-model.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { FieldError } from "../../protocol/problem.ts";
import { checkGraph } from "./check-graph.ts";
import { checkSizes } from "./check-sizes.ts";
import { FIRST_OPSET, LAST_OPSET, OPERATORS, REPEATING_OPERATORS } from "./known-operators.ts";
import { nameNode, shorten } from "./name-node.ts";
import { openModel } from "./open-model.ts";
import { readSignature, type Signature, type SignatureResult } from "./read-signature.ts";

export type CheckedModel =
  | ({ readonly ok: true; readonly model: OnnxModel } & Signature)
  | { readonly ok: false; readonly problems: FieldError[] };

/**
 * Whether an ONNX file may be handed to runners: all that is wrong with it, up to `LIMITS.modelProblems`, without
 * running it. Pointers lead to fields of onnx.proto3, such as `#/graph/node/3`.
 */
export function checkModel(file: Uint8Array): CheckedModel {
  const opened = openModel(file);
  if (!opened.ok) return { ok: false, problems: [{ pointer: "#", message: opened.message }] };
  const { model } = opened;
  const signature = readSignature(model);
  const problems = collect(model, signature);
  if (signature.ok && problems.length === 0) {
    return { ok: true, model, inputs: signature.inputs, outputs: signature.outputs };
  }
  return { ok: false, problems };
}

/** As many as are told; the last says how many there are further. */
function collect(model: OnnxModel, signature: SignatureResult): FieldError[] {
  const told: FieldError[] = [];
  let further = 0;
  for (const problem of checkAll(model, signature)) {
    if (told.length < LIMITS.modelProblems) told.push(problem);
    else further++;
  }
  if (further === 0) return told;
  return [...told.slice(0, -1), { pointer: "#", message: `has ${further + 1} further problems` }];
}

function* checkAll(model: OnnxModel, signature: SignatureResult): Generator<FieldError> {
  let isSound = true;
  for (const problem of checkForm(model, signature)) {
    isSound = false;
    yield problem;
  }
  // Sizes of what is no sound graph say nothing.
  if (isSound) yield* checkSizes(model, inferShapes(model, 1));
}

function* checkForm(model: OnnxModel, signature: SignatureResult): Generator<FieldError> {
  if (!signature.ok) yield* signature.messages.map((message) => ({ pointer: "#", message }));
  yield* checkVersions(model);
  yield* checkNodes(model);
  yield* checkGraph(model);
}

function checkVersions({ opset }: OnnxModel): FieldError[] {
  if (Number.isSafeInteger(opset) && opset >= FIRST_OPSET && opset <= LAST_OPSET) return [];
  return [{ pointer: "#/opsetImport", message: `has opset ${opset}, and ${FIRST_OPSET} to ${LAST_OPSET} are taken` }];
}

function checkNodes({ nodes, opset }: OnnxModel): FieldError[] {
  return nodes.flatMap((node, index) => {
    const message = complaintOf(node, opset);
    return message === null ? [] : [{ pointer: `#/graph/node/${index}`, message: `${nameNode(node)} ${message}` }];
  });
}

function complaintOf({ operator, domain, name, inputs, outputs, attributes }: OnnxNode, opset: number): string | null {
  const names = [operator, domain, name, ...inputs, ...outputs, ...attributes.keys()];
  if (names.some(({ length }) => length > LIMITS.modelNameLength)) {
    return `has a name of more than ${LIMITS.modelNameLength} characters`;
  }
  if (domain !== "") return `is an operator of ${shorten(domain)}, and only those of ONNX itself are taken`;
  const since = OPERATORS.get(operator);
  if (since === undefined) return "is an operator that is not known";
  if (since > opset) return `is an operator since opset ${since}, and the file has opset ${opset}`;
  if (REPEATING_OPERATORS.has(operator)) return "runs a graph of its own, whose size cannot be told";
  return null;
}
