import { z } from "zod";
import type { TensorSpec } from "../models/model.ts";
import { LIMITS } from "../wire/limits.ts";
import { invalidRequest, parseInput } from "../wire/parse-input.ts";
import type { FieldError } from "../wire/problem.ts";
import { countElements, type DType, measureElements, type Tensor, tensorFromJson } from "../wire/tensor.ts";
import { type InferWishes, wishFields } from "./inference.ts";
import { OIP_DATATYPES, OipInferRequest } from "./oip.ts";

/** Content of an Open Inference Protocol request. */
export interface OipRequest {
  readonly id: string | undefined;
  readonly tensors: Tensor[];
  /** Null where the request names none. */
  readonly budgetMs: number | null;
  readonly priority: number;
  readonly parameters: OipParameters;
  /** Requested outputs, each with whether it comes as raw bytes; null for all of them. */
  readonly outputs: ReadonlyMap<string, boolean> | null;
  /** Outputs without their own setting come as raw bytes. */
  readonly isBinary: boolean;
}

/** Our wishes by the names of the request's parameters, which are written in the protocol's way. */
const OipSettings = z.object({
  confidence: wishFields.confidence,
  refuse_within_ms: wishFields.refuseWithinMs,
  on_miss: wishFields.onMiss,
});
type OipParameters = NonNullable<OipInferRequest["parameters"]>;

const DTYPES = new Map(Object.entries(OIP_DATATYPES).map(([dtype, name]) => [name, dtype as DType]));

/**
 * Reads a request for a model with these `inputs`. `headerLength` is the value of `Inference-Header-Content-Length`:
 * the length of the JSON part.
 * Behind it come the tensors that carry `binary_data_size`, in their order. With 0 the body is the only input's bytes.
 * `parse` reads JSON.
 */
export function readOipRequest(
  body: Uint8Array<ArrayBuffer>,
  headerLength: string | null,
  inputs: readonly TensorSpec[],
  parse: (json: Uint8Array) => unknown,
): OipRequest {
  if (headerLength === null) return readParts(parse(body), new Uint8Array());
  const length = /^\d{1,10}$/.test(headerLength) ? Number(headerLength) : Number.POSITIVE_INFINITY;
  if (length > body.byteLength) {
    const message = `must be a number of bytes, at most the body's ${body.byteLength}`;
    throw invalidRequest([{ pointer: "header/inference-header-content-length", message }]);
  }
  if (length === 0) return readRawBody(body, inputs);
  return readParts(parse(body.subarray(0, length)), body.subarray(length));
}

/** Refuses outputs that the model does not have. */
export function checkOutputs({ outputs }: OipRequest, model: string, known: readonly TensorSpec[]): void {
  const errors = [...(outputs?.keys() ?? [])].flatMap((name, index): FieldError[] => {
    if (known.some((output) => output.name === name)) return [];
    const message = `unexpected inference output '${name}' for model '${model}'`;
    return [{ pointer: `#/outputs/${index}/name`, message }];
  });
  if (errors.length > 0) throw invalidRequest(errors);
}

/** Place of an input in the request, by its name. */
export function pointInto(tensors: readonly Tensor[]): (name: string) => string {
  return (name) => {
    const index = tensors.findIndex((tensor) => tensor.name === name);
    return index < 0 ? "#/inputs" : `#/inputs/${index}`;
  };
}

function readParts(json: unknown, raw: Uint8Array): OipRequest {
  const request = parseInput(OipInferRequest, json);
  const errors: FieldError[] = [];
  const tensors: Tensor[] = [];
  let offset = 0;
  for (const [index, input] of request.inputs.entries()) {
    const read = readInput(input, raw, offset);
    if (read.ok) {
      tensors.push(read.tensor);
      offset += read.rawBytes;
    } else errors.push({ pointer: `#/inputs/${index}${read.field}`, message: read.message });
  }
  if (errors.length === 0 && offset !== raw.byteLength) {
    errors.push({ pointer: "#", message: `${raw.byteLength - offset} bytes stand behind the last tensor` });
  }
  const { id, parameters = {}, outputs } = request;
  errors.push(...(outputs ?? []).flatMap(refuseOutput));
  if (errors.length > 0) throw invalidRequest(errors);
  const isBinary = parameters["binary_data_output"] === true;
  const wanted = outputs?.map((output): [string, boolean] => {
    const asked = output.parameters?.["binary_data"];
    return [output.name, typeof asked === "boolean" ? asked : isBinary];
  });
  // Without a list, or with an empty one, all outputs are meant.
  const named = wanted === undefined || wanted.length === 0 ? null : new Map(wanted);
  const wishes = { budgetMs: readBudget(parameters), priority: readPriority(parameters["priority"]) };
  return { id, tensors, parameters, ...wishes, outputs: named, isBinary };
}

/** Errors of an output's unsupported settings: shared memory, and classification. */
function refuseOutput({ parameters }: RequestedOutput, index: number): FieldError[] {
  const refuse = (name: string, message: string) => ({ pointer: `#/outputs/${index}/parameters/${name}`, message });
  if (parameters?.["shared_memory_region"] !== undefined) return [refuse("shared_memory_region", NOT_SHARED)];
  return (parameters?.["classification"] ?? 0) === 0 ? [] : [refuse("classification", "outputs are not classified")];
}

type RequestedOutput = NonNullable<OipInferRequest["outputs"]>[number];

const NOT_SHARED = "shared memory is not shared with this server";

type InputResult = { ok: true; tensor: Tensor; rawBytes: number } | { ok: false; field: string; message: string };

function readInput(input: OipInferRequest["inputs"][number], raw: Uint8Array, offset: number): InputResult {
  const { name, shape, data, parameters } = input;
  const dtype = DTYPES.get(input.datatype) ?? "float32";
  if (parameters?.["shared_memory_region"] !== undefined) {
    return { ok: false, field: "/parameters", message: NOT_SHARED };
  }
  const sizeBytes = parameters?.["binary_data_size"];
  if ((data === undefined) === (sizeBytes === undefined)) {
    return { ok: false, field: "", message: "must have either data or the parameter binary_data_size" };
  }
  if (data !== undefined) {
    const read = tensorFromJson(name, { dtype, shape, data });
    return read.ok
      ? { ok: true, tensor: read.tensor, rawBytes: 0 }
      : { ok: false, field: "/data", message: read.message };
  }
  const elements = countElements(shape);
  const length = elements > LIMITS.tensorElements ? null : measureElements(dtype, elements, raw, offset);
  if (length === null || length !== sizeBytes) {
    const message = `must say what shape [${shape.join(", ")}] of ${input.datatype} takes and the body holds`;
    return { ok: false, field: "/parameters/binary_data_size", message };
  }
  return { ok: true, tensor: { name, dtype, shape, bytes: raw.subarray(offset, offset + length) }, rawBytes: length };
}

/** The bytes of a single input; its shape is the model's, with at most one free dimension. */
function readRawBody(body: Uint8Array, inputs: readonly TensorSpec[]): OipRequest {
  const [input, ...others] = inputs;
  const free = input?.shape.filter((size) => size === -1).length ?? 0;
  if (input === undefined || others.length > 0 || free > 1 || input.dtype === "string") {
    const message = "a raw body needs a model with one input of fixed-size elements and at most one free dimension";
    throw invalidRequest([{ pointer: "#", message }]);
  }
  const fixed = countElements(input.shape.filter((size) => size !== -1));
  const rowBytes = measureElements(input.dtype, fixed, body, 0);
  const rows = rowBytes === null || rowBytes === 0 ? 0 : body.byteLength / rowBytes;
  if (!Number.isInteger(rows) || rows === 0 || (free === 0 && rows !== 1)) {
    const message = `must be the bytes of [${input.shape.join(", ")}] of ${OIP_DATATYPES[input.dtype]}`;
    throw invalidRequest([{ pointer: "#", message }]);
  }
  const shape = input.shape.map((size) => (size === -1 ? rows : size));
  const tensor = { name: input.name, dtype: input.dtype, shape, bytes: body };
  const wishes = { budgetMs: null, priority: 0 };
  return { id: undefined, tensors: [tensor], parameters: {}, ...wishes, outputs: null, isBinary: true };
}

/** The wishes that Triton does not know, of a request to the edge: a direct one has those of its ticket. */
export function readOipSettings({
  parameters,
}: OipRequest): Pick<InferWishes, "confidence" | "refuseWithinMs" | "onMiss"> {
  const { confidence, refuse_within_ms, on_miss } = parseInput(OipSettings, parameters, "#/parameters");
  return { confidence, refuseWithinMs: refuse_within_ms, onMiss: on_miss };
}

/** Triton's 1 is the most urgent and 0 the default. Ours runs the other way and is clamped to its range. */
function readPriority(value: string | number | boolean = 0): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= 0) {
    return value === 0 ? 0 : Math.max(0, LIMITS.maxPriority + 1 - value);
  }
  throw invalidRequest([{ pointer: "#/parameters/priority", message: "must be a whole number from 0" }]);
}

/** The request's budget: `budget_ms`, or Triton's `timeout` in microseconds. */
function readBudget(parameters: Readonly<Record<string, string | number | boolean>>): number | null {
  if (parameters["sequence_id"] !== undefined && parameters["sequence_id"] !== 0) {
    throw invalidRequest([{ pointer: "#/parameters/sequence_id", message: "sequences are not served" }]);
  }
  const { budget_ms: ours, timeout } = parameters;
  if (ours !== undefined) return checkBudget(ours, "#/parameters/budget_ms", 1);
  if (timeout === undefined || timeout === 0) return null;
  return checkBudget(timeout, "#/parameters/timeout", 1_000);
}

function checkBudget(value: string | number | boolean, pointer: string, perMs: number): number {
  const budgetMs = typeof value === "number" ? value / perMs : Number.NaN;
  if (budgetMs >= LIMITS.minBudgetMs && budgetMs <= LIMITS.maxBudgetMs) return budgetMs;
  const message = `must be a number from ${LIMITS.minBudgetMs * perMs} to ${LIMITS.maxBudgetMs * perMs}`;
  throw invalidRequest([{ pointer, message }]);
}
