import { type Steps, UnreadableModel } from "../../onnx/each-field.ts";
import { inferShapes } from "../../onnx/infer-shapes.ts";
import { nameOperator, type OnnxModel, type OnnxNode } from "../../onnx/onnx-model.ts";
import { OPERATORS } from "../../onnx/operators.ts";
import { readModelSteps, readOutlineSteps } from "../../onnx/read-model.ts";
import { surveySteps } from "../../onnx/survey-file.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import type { FieldError } from "../../protocol/wire/problem.ts";
import { checkGraph, checkSizes, nameNode, shorten } from "./check-graph.ts";
import { readSignature, type Signature, type SignatureResult } from "./read-signature.ts";

/** First opset of ONNX's own operators that ONNX Runtime 1.30 loads. */
export const FIRST_OPSET = 7;
export const LAST_OPSET = 26;
/** Domains besides ONNX's own. */
const FURTHER_DOMAINS = [...OPERATORS.keys()].filter((domain) => domain !== "").join(" and ");

export type OpenedModel =
  | { readonly ok: true; readonly model: OnnxModel }
  | { readonly ok: false; readonly message: string };

/** First bytes of archives that are uploaded instead of the model file inside. */
const ARCHIVES = [
  { kind: "a zip archive", first: [0x50, 0x4b] },
  { kind: "a gzip archive", first: [0x1f, 0x8b] },
] as const;

/**
 * Reads an uploaded ONNX file, in steps. A survey comes before any object is built, so that a small file cannot take
 * much memory; weights in other files are refused at any depth.
 */
export function* openModel(file: Uint8Array): Steps<OpenedModel> {
  const archive = ARCHIVES.find(({ first }) => first.every((byte, at) => file[at] === byte));
  if (archive !== undefined) return { ok: false, message: `the file is ${archive.kind}: unpack it first` };
  return yield* orSay(function* () {
    const { hasExternalData, pieces } = yield* surveySteps(file, LIMITS.modelPieces);
    if (hasExternalData) {
      return { ok: false, message: "weights lie outside of the file: upload its files first, by POST /v1/uploads" };
    }
    yield pieces;
    return { ok: true, model: yield* readModelSteps(file, LIMITS.modelNodes) };
  });
}

function* orSay(open: () => Steps<OpenedModel>): Steps<OpenedModel> {
  try {
    return yield* open();
  } catch (error) {
    return { ok: false, message: error instanceof UnreadableModel ? error.message : "the file is not an ONNX model" };
  }
}

export type CheckedModel =
  | ({ readonly ok: true; readonly model: OnnxModel } & Signature)
  | { readonly ok: false; readonly problems: FieldError[] };

/**
 * Checks an ONNX file for runners without running it, in steps: all errors, up to `LIMITS.modelProblems`. Pointers lead
 * to fields of onnx.proto3, such as `#/graph/node/3`.
 */
export function* checkModel(file: Uint8Array): Steps<CheckedModel> {
  return yield* check(yield* openModel(file), "modelWeightBytes");
}

/** The same of the outline of a large model. */
export function* checkOutline(outline: Uint8Array): Steps<CheckedModel> {
  const opened = yield* orSay(function* () {
    const { pieces } = yield* surveySteps(outline, LIMITS.modelPieces);
    yield pieces;
    return { ok: true, model: yield* readOutlineSteps(outline, LIMITS.modelNodes) };
  });
  // Runners make tensors of them by changing the file, which they read as a whole for that.
  const odd = opened.ok ? opened.model.outputs.find(({ container }) => container !== undefined) : undefined;
  if (odd === undefined) return yield* check(opened, "largeModelBytes");
  const message = `the output ${shorten(odd.name)} is a ${odd.container}, which only a file of at most ${LIMITS.modelBytes} bytes may give`;
  return { ok: false, problems: [{ pointer: "#/graph/output", message }] };
}

type WeightLimit = Parameters<typeof checkSizes>[2];

function* check(opened: OpenedModel, weightLimit: WeightLimit): Steps<CheckedModel> {
  if (!opened.ok) return { ok: false, problems: [{ pointer: "#", message: opened.message }] };
  const { model } = opened;
  const signature = readSignature(model);
  const problems = yield* collect(model, signature, weightLimit);
  if (signature.ok && problems.length === 0) {
    return { ok: true, model, inputs: signature.inputs, outputs: signature.outputs };
  }
  return { ok: false, problems };
}

/** The first errors, up to the limit; the last one counts the rest. */
function* collect(model: OnnxModel, signature: SignatureResult, weightLimit: WeightLimit): Steps<FieldError[]> {
  const told: FieldError[] = [];
  let further = 0;
  for (const problem of checkAll(model, signature, weightLimit)) {
    if (problem === REST) yield;
    else if (told.length < LIMITS.modelProblems) told.push(problem);
    else further++;
  }
  if (further === 0) return told;
  return [...told.slice(0, -1), { pointer: "#", message: `has ${further + 1} further problems` }];
}

/** Stands between problems where a step ends. */
const REST = null;
type Found = Generator<FieldError | typeof REST>;

function* checkAll(model: OnnxModel, signature: SignatureResult, weightLimit: WeightLimit): Found {
  let isSound = true;
  for (const problem of checkForm(model, signature)) {
    if (problem !== REST) isSound = false;
    yield problem;
  }
  // Sizes of an unsound graph mean nothing.
  if (!isSound) return;
  const shapes = inferShapes(model, 1);
  yield REST;
  yield* checkSizes(model, shapes, weightLimit);
}

function* checkForm(model: OnnxModel, signature: SignatureResult): Found {
  if (!signature.ok) yield* signature.messages.map((message) => ({ pointer: "#", message }));
  yield* checkVersions(model);
  yield* checkNodes(model);
  yield REST;
  yield* checkGraph(model);
  yield REST;
}

function checkVersions({ opset, nodes }: OnnxModel): FieldError[] {
  if (opset === 0 && nodes.every(({ domain }) => domain !== "")) return [];
  if (Number.isSafeInteger(opset) && opset >= FIRST_OPSET && opset <= LAST_OPSET) return [];
  return [{ pointer: "#/opsetImport", message: `has opset ${opset}, and ${FIRST_OPSET} to ${LAST_OPSET} are taken` }];
}

/** Operators that no runner has, or not at the version that the file imports. */
export function checkNodes(model: OnnxModel): FieldError[] {
  return model.nodes.flatMap((node, index) => {
    const message = complaintOf(node, model);
    return message === null ? [] : [{ pointer: `#/graph/node/${index}`, message: `${nameNode(node)} ${message}` }];
  });
}

function complaintOf(node: OnnxNode, { opset, domains, functions }: OnnxModel): string | null {
  const { operator, domain, name, inputs, outputs, attributes } = node;
  const names = [operator, domain, name, ...inputs, ...outputs, ...attributes.keys()];
  if (names.some(({ length }) => length > LIMITS.modelNameLength)) {
    return `has a name of more than ${LIMITS.modelNameLength} characters`;
  }
  if (functions?.has(nameOperator(node)) === true) return null;
  const known = OPERATORS.get(domain);
  if (known === undefined) {
    return `is an operator of ${shorten(domain)}, which needs a library of its own: ${FURTHER_DOMAINS} are taken`;
  }
  const since = known.get(operator);
  if (since === undefined) return "is an operator that ONNX Runtime does not have";
  const version = domain === "" ? opset : domains.get(domain);
  if (version === undefined) return `is an operator of ${domain}, which the file does not import`;
  if (since > version) return `is an operator since opset ${since}, and the file has opset ${version}`;
  return null;
}
