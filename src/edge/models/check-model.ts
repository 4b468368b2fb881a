import { UnreadableModel } from "../../onnx/each-field.ts";
import { inferShapes } from "../../onnx/infer-shapes.ts";
import type { OnnxModel, OnnxNode } from "../../onnx/onnx-model.ts";
import { readModel } from "../../onnx/read-model.ts";
import { surveyFile } from "../../onnx/survey-file.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import type { FieldError } from "../../protocol/wire/problem.ts";
import { checkGraph, checkSizes, nameNode, shorten } from "./check-graph.ts";
import { readSignature, type Signature, type SignatureResult } from "./read-signature.ts";

/** First opset of ONNX's own operators that ONNX Runtime 1.30 loads. */
export const FIRST_OPSET = 7;
export const LAST_OPSET = 26;

/**
 * Operators of ONNX Runtime's CPU provider by their first opset (7 includes all before it), without those for training
 * and for image files.
 */
const SINCE: Readonly<Record<number, string>> = {
  7:
    "Abs Acos Add And ArgMax ArgMin Asin Atan AveragePool BatchNormalization Cast Ceil Clip Concat" +
    " Constant Conv ConvTranspose Cos DepthToSpace Dropout Elu Equal Exp Flatten Floor GRU Gather Gemm" +
    " GlobalAveragePool GlobalLpPool GlobalMaxPool Greater HardSigmoid Hardmax Identity If" +
    " InstanceNormalization LRN LSTM LayerNormalization LeakyRelu Less Log LogSoftmax Loop LpNormalization" +
    " LpPool MatMul Max MaxPool MaxRoiPool Mean MeanVarianceNormalization Min Mul Multinomial Neg Not Or" +
    " PRelu Pad Pow RNN RandomNormal RandomNormalLike RandomUniform RandomUniformLike Reciprocal ReduceL1" +
    " ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum" +
    " ReduceSumSquare Relu Reshape Selu Shape Sigmoid Sin Size Slice Softmax Softplus Softsign" +
    " SpaceToDepth Split Sqrt Squeeze Sub Sum Tan Tanh ThresholdedRelu Tile TopK Transpose Unsqueeze" +
    " Upsample Xor",
  8: "Expand Scan",
  9:
    "Acosh Asinh Atanh Compress ConstantOfShape Cosh Erf EyeLike IsNaN MaxUnpool NonZero OneHot Scatter" +
    " Shrink Sign Sinh TfIdfVectorizer Where",
  10:
    "ConvInteger DequantizeLinear IsInf MatMulInteger Mod NonMaxSuppression QLinearConv QLinearMatMul" +
    " QuantizeLinear Resize ReverseSequence RoiAlign StringNormalizer",
  11:
    "BitShift ConcatFromSequence CumSum Det DynamicQuantizeLinear GatherElements GatherND Range Round" +
    " ScatterElements ScatterND SequenceAt SequenceConstruct SequenceEmpty SequenceErase SequenceInsert" +
    " SequenceLength SplitToSequence Unique",
  12: "Celu Einsum GreaterOrEqual LessOrEqual",
  14: "HardSwish Trilu",
  15: "Bernoulli CastLike Optional OptionalGetElement OptionalHasElement",
  16: "GridSample",
  17: "BlackmanWindow DFT HammingWindow HannWindow MelWeightMatrix STFT SequenceMap",
  18: "BitwiseAnd BitwiseNot BitwiseOr BitwiseXor CenterCropPad Col2Im GroupNormalization Mish",
  19: "DeformConv",
  20: "AffineGrid Gelu RegexFullMatch StringConcat StringSplit",
  23: "Attention RMSNormalization RotaryEmbedding",
  24: "Swish TensorScatter",
};

/** The first opset of each operator, by name. */
export const OPERATORS: ReadonlyMap<string, number> = new Map(
  Object.entries(SINCE).flatMap(([opset, names]) => names.split(" ").map((name) => [name, Number(opset)] as const)),
);

/** Operators that run a subgraph, mostly as often as the data require. */
const REPEATING_OPERATORS: ReadonlySet<string> = new Set(["If", "Loop", "Scan", "SequenceMap"]);

export type OpenedModel =
  | { readonly ok: true; readonly model: OnnxModel }
  | { readonly ok: false; readonly message: string };

/** First bytes of archives that are uploaded instead of the model file inside. */
const ARCHIVES = [
  { kind: "a zip archive", first: [0x50, 0x4b] },
  { kind: "a gzip archive", first: [0x1f, 0x8b] },
] as const;

/**
 * Reads an uploaded ONNX file. A survey comes before any object is built, so that a small file cannot take much memory;
 * weights in other files are refused at any depth.
 */
export function openModel(file: Uint8Array): OpenedModel {
  const archive = ARCHIVES.find(({ first }) => first.every((byte, at) => file[at] === byte));
  if (archive !== undefined) return { ok: false, message: `the file is ${archive.kind}: unpack it first` };
  try {
    const { hasExternalData } = surveyFile(file, LIMITS.modelPieces);
    if (hasExternalData) return { ok: false, message: "weights outside of the file are not taken" };
    return { ok: true, model: readModel(file, LIMITS.modelNodes) };
  } catch (error) {
    return { ok: false, message: error instanceof UnreadableModel ? error.message : "the file is not an ONNX model" };
  }
}

export type CheckedModel =
  | ({ readonly ok: true; readonly model: OnnxModel } & Signature)
  | { readonly ok: false; readonly problems: FieldError[] };

/**
 * Checks an ONNX file for runners without running it: all errors, up to `LIMITS.modelProblems`. Pointers lead to fields
 * of onnx.proto3, such as `#/graph/node/3`.
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

/** The first errors, up to the limit; the last one counts the rest. */
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
  // Sizes of an unsound graph mean nothing.
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
