import { readFile } from "node:fs/promises";
import { env, InferenceSession, Tensor as OrtTensor } from "onnxruntime-node";
import type { OnnxModel } from "../../../onnx/onnx-model.ts";
import { readModel } from "../../../onnx/read-model.ts";
import { withTensorOutputs } from "../../../onnx/tensor-outputs.ts";
import { writeModel } from "../../../onnx/write-model.ts";
import type { Backend } from "../../../protocol/fleet/hardware.ts";
import type { NetworkLayouts } from "../../../protocol/models/network-layout.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import {
  type DType,
  DTYPE_BYTES,
  packStrings,
  type Tensor,
  typedView,
  unpackStrings,
} from "../../../protocol/wire/tensor.ts";
import { type ModelContent, readModelPaths, withModelPath } from "./model-paths.ts";
import { computeInWholeNumbers, roundsByItself } from "./whole-products.ts";

/**
 * Processors without VNNI add products of 8 bits in 16, which overflow, by ONNX Runtime's defaults: answers were off by up
 * to half of the largest. With this option it takes slower products there, and the same ones elsewhere.
 * Source: `kOrtSessionOptionsAvx2PrecisionMode` of ONNX Runtime.
 */
export const EXACT_WHOLE_PRODUCTS = { x64quantprecision: "1" };

const OPTIONS: InferenceSession.SessionOptions = {
  interOpNumThreads: 1,
  executionMode: "sequential",
  graphOptimizationLevel: "all",
  logSeverityLevel: 3,
};

/** Largest tensor that is copied for each of its uses. */
const MOST_COPIED_BYTES = 2 ** 20;

/** Operators that multiply numbers of 8 bits, and those from which the runtime makes such. */
const ROUNDED = /^(QuantizeLinear|DynamicQuantize|QLinear|QGemm|QAttention)|Integer$/;

/**
 * The same network as the runtime can make exact, or null where it has no products of 8 bits. Version 1.30 loads none in
 * which two uses share a tensor, so each use gets its own; and it runs none with weights by channel without zero points,
 * so they get zeros.
 */
export function prepareExact(model: OnnxModel): OnnxModel | null {
  if (!model.nodes.some(({ operator }) => ROUNDED.test(operator))) return null;
  const weights = new Map(model.weights);
  const used = new Set<string>();
  const own = (input: string): string => {
    const tensor = model.weights.get(input);
    if (tensor?.dtype !== "int8" || tensor.bytes.length > MOST_COPIED_BYTES) return input;
    if (!used.has(input)) {
      used.add(input);
      return input;
    }
    const name = `${input} of its own ${weights.size}`;
    weights.set(name, { ...tensor, name });
    return name;
  };
  const nodes = model.nodes.map((node) => {
    const inputs = node.inputs.map(own);
    const [values = "", scale = "", zero = ""] = inputs;
    const dims = weights.get(scale)?.dims;
    const isWeight = node.operator === "DequantizeLinear" && weights.get(values)?.dtype === "int8";
    if (!isWeight || zero !== "" || dims?.length !== 1) return { ...node, inputs };
    const name = `${values} zeros ${weights.size}`;
    weights.set(name, { name, dtype: "int8", dims, bytes: new Uint8Array(dims[0]!) });
    return { ...node, inputs: [values, scale, name] };
  });
  return { ...model, nodes, weights };
}

/** How a network is optimised as it is loaded. */
function optionsFor({ nodes }: Pick<OnnxModel, "nodes">): InferenceSession.SessionOptions {
  const storesWeights = nodes.some(({ operator }) => operator === "DequantizeLinear") && !roundsByItself({ nodes });
  return storesWeights ? { ...OPTIONS, extra: { session: { disable_quant_qdq: "1" } } } : OPTIONS;
}

/** A file as a session of the runtime takes it. */
export interface SessionFile {
  /**
   * The path or content as given; or the content with all outputs as tensors, the only ones that reach Node, or with
   * products as operators of whole numbers.
   */
  readonly model: string | Uint8Array;
  readonly options: InferenceSession.SessionOptions;
  /** What to load where this fails. */
  readonly other?: SessionFile;
}

/**
 * Prepares a file, by its path or content, for a session. Products that a file leaves to the backend are computed in
 * whole numbers. Other integers that are only the storage format of weights become floats once, at loading; by default
 * the runtime optimises for quantised networks, and converts them at every request. A file that cannot be read or
 * changed here stays as it is: the runtime reports its errors.
 */
export async function openSessionFile(model: string | Uint8Array, provider: OrtProvider = "cpu"): Promise<SessionFile> {
  let options = OPTIONS;
  try {
    const file = typeof model === "string" ? await readFile(model) : model;
    const read = readModel(file);
    options = optionsFor(read);
    const changed = withTensorOutputs(file, read);
    if (changed !== file) return { model: changed, options };
    const whole = computeInWholeNumbers(read, provider);
    const other = { model: whole === read ? model : writeModel(whole), options };
    const exact = provider === "cpu" ? prepareExact(whole) : null;
    if (exact === null) return other;
    const session = { ...(options.extra?.["session"] as object), ...EXACT_WHOLE_PRODUCTS };
    return { model: writeModel(exact), options: { ...options, extra: { session } }, other };
  } catch {
    return { model, options };
  }
}

/** Session of a prepared file, with further options. Rejects as the runtime does for a file that it cannot load. */
export function createSession(
  { model, options, other }: SessionFile,
  wanted: InferenceSession.SessionOptions,
): Promise<InferenceSession> {
  // The overloads accept one or the other.
  const creating = InferenceSession.create(model as string, { ...options, ...wanted });
  return other === undefined ? creating : creating.catch(() => createSession(other, wanted));
}

/** Times of a request inside the backend, on the monotonic clock. */
export interface InferenceTimes {
  readonly uploadMs: number;
  readonly computeMs: number;
  readonly readbackMs: number;
}

export interface InferenceOutcome {
  readonly tensors: Tensor[];
  readonly times: InferenceTimes;
  /** Layouts in our own kernels that were measured within this run, by sizes. */
  readonly layouts?: NetworkLayouts;
}

/** ONNX Runtime's version in a fingerprint, which also determines its WebGPU provider and the Dawn inside. */
export const ORT_VERSION = env.versions.node === undefined ? null : `onnxruntime-node ${env.versions.node}`;

/** ONNX Runtime's own names of execution providers, which are those of the backends. */
export type OrtProvider = Backend extends infer Name
  ? Name extends `ort-${infer Provider}`
    ? Provider
    : never
  : never;

/** The provider that a backend of ONNX Runtime is. */
export function providerOf(backend: Extract<Backend, `ort-${string}`>): OrtProvider {
  return backend.slice("ort-".length) as OrtProvider;
}

/** A provider's options, as the binding takes them. */
export type OrtProviderOptions = InferenceSession.ExecutionProviderConfig;

/**
 * Models on one of ONNX Runtime's providers, each with CPU threads of its own: one, or on the CPU provider as many as
 * requested at loading. `load` and `run` block the event loop of their process, so this runs in a child. WebGPU finds
 * its adapter through the environment by itself.
 */
export class OrtBackend {
  readonly provider: OrtProvider;
  readonly #options: OrtProviderOptions;
  readonly #sessions = new Map<string, InferenceSession>();

  constructor(provider: OrtProvider, options: OrtProviderOptions = provider) {
    this.provider = provider;
    this.#options = options;
  }

  /**
   * Loads an ONNX file by its path, its content, or the paths of all its files, with this many threads per operator;
   * replaces any model under the key. With `profilePrefix` its runs are profiled until `endProfiling`, into a file whose
   * path begins so. Fails with `invalid-model`, and with `backend-failed` for several threads on a provider other than
   * the CPU's, which does not use them.
   */
  async load(
    modelKey: string,
    model: string | ModelContent,
    threads = 1,
    profilePrefix?: string,
  ): Promise<{ loadMs: number }> {
    if (threads > 1 && this.provider !== "cpu") {
      throw new ProblemError("backend-failed", `Only the CPU provider supports threads; ${threads} were asked for.`);
    }
    const startedAt = performance.now();
    const wanted = {
      intraOpNumThreads: threads,
      executionProviders: [this.#options],
      ...(profilePrefix !== undefined && { enableProfiling: true, profileFilePrefix: profilePrefix }),
    };
    const loading =
      typeof model === "string" || model instanceof Uint8Array
        ? createSession(await openSessionFile(model, this.provider), wanted)
        : withModelPath(model, async (path) =>
            createSession({ model: path, options: optionsFor(await readModelPaths(model)) }, wanted),
          );
    const session = await loading.catch((error: unknown) => {
      throw new ProblemError("invalid-model", `ONNX Runtime cannot load the model: ${messageOf(error)}`);
    });
    await this.unload(modelKey);
    this.#sessions.set(modelKey, session);
    return { loadMs: performance.now() - startedAt };
  }

  /** Writes the profile of a model that was loaded for one. */
  endProfiling(modelKey: string): void {
    this.#sessions.get(modelKey)?.endProfiling();
  }

  /** Frees a model; an unknown key is no error. */
  async unload(modelKey: string): Promise<void> {
    const session = this.#sessions.get(modelKey);
    this.#sessions.delete(modelKey);
    await session?.release();
  }

  /**
   * Runs a model on tensors by the names of its inputs; returns all outputs in the model's order. Fails with
   * `not-found` for a model that is not loaded, otherwise with `backend-failed`.
   */
  async run(modelKey: string, inputs: readonly Tensor[]): Promise<InferenceOutcome> {
    const session = this.#sessions.get(modelKey);
    if (session === undefined) throw new ProblemError("not-found", `The model '${modelKey}' is not loaded`);
    try {
      const startedAt = performance.now();
      const feeds = Object.fromEntries(inputs.map((tensor) => [tensor.name, toOrtTensor(tensor)]));
      const uploadedAt = performance.now();
      const results = await session.run(feeds);
      const computedAt = performance.now();
      const tensors = session.outputNames.map((name) => fromOrtTensor(name, results[name]));
      const times = {
        uploadMs: uploadedAt - startedAt,
        computeMs: computedAt - uploadedAt,
        readbackMs: performance.now() - computedAt,
      };
      return { tensors, times };
    } catch (error) {
      if (error instanceof ProblemError) throw error;
      throw new ProblemError("backend-failed", `ONNX Runtime cannot run the model: ${messageOf(error)}`);
    }
  }
}

/** Throws where the bytes do not fill the shape: the runtime compares the two. */
function toOrtTensor(tensor: Tensor): OrtTensor {
  if (tensor.dtype === "string") return new OrtTensor("string", unpackStrings(tensor.bytes), tensor.shape);
  return new OrtTensor(tensor.dtype, typedView(tensor) as Float32Array, tensor.shape);
}

function fromOrtTensor(name: string, tensor: OrtTensor | undefined): Tensor {
  if (tensor === undefined || !isDType(tensor.type)) {
    throw new ProblemError("backend-failed", `The output '${name}' has the type ${tensor?.type}, which cannot be sent`);
  }
  if (tensor.type === "string") {
    return { name, dtype: "string", shape: [...tensor.dims], bytes: packStrings(tensor.data as string[]) };
  }
  const { buffer, byteOffset, byteLength } = tensor.data as Exclude<OrtTensor["data"], string[]>;
  return { name, dtype: tensor.type, shape: [...tensor.dims], bytes: new Uint8Array(buffer, byteOffset, byteLength) };
}

function isDType(type: string): type is DType {
  return type === "string" || type in DTYPE_BYTES;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
