import { readFile } from "node:fs/promises";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { compileParts } from "../devices/gpu/kernel-loader.ts";
import { KIND } from "./lowering/network-op.ts";
import type { ReadyOp } from "./plan-network.ts";
import type { Layout } from "./schedule-operators.ts";
import { shareCoreUntil } from "../devices/gpu/wait-for-gpu.ts";

const FOLDER = new URL("../../../kernels/network/", import.meta.url);
const FILES = [
  "finish",
  "seldom",
  "weights",
  "map",
  "convolve",
  "dense",
  "product",
  "reduce",
  "normalise",
  "recur",
  "network",
];

/** `override` constants of a pipeline. */
type ProgramConstants = Readonly<Record<string, number>>;

/** Program that runs networks, compiled once for all with the same kinds of operators, and its bindings. */
export class NetworkProgram {
  readonly layout: GPUBindGroupLayout;
  readonly #device: GPUDevice;
  readonly #pipelines = new Map<string, Promise<GPUComputePipeline>>();
  #module: Promise<GPUShaderModule> | undefined;

  constructor(device: GPUDevice) {
    this.#device = device;
    const types: GPUBufferBindingType[] = ["uniform", "read-only-storage", "read-only-storage", "storage", "storage"];
    this.layout = device.createBindGroupLayout({
      entries: types.map((type, binding) => ({ binding, visibility: GPUShaderStage.COMPUTE, buffer: { type } })),
    });
  }

  /** Fails with `kernel-invalid` where the device does not support so many lanes. */
  pipelineFor(constants: ProgramConstants): Promise<GPUComputePipeline> {
    const key = JSON.stringify(constants);
    const known = this.#pipelines.get(key);
    if (known !== undefined) return known;
    const made = this.#compile(constants);
    this.#pipelines.set(key, made);
    made.catch(() => this.#pipelines.delete(key));
    return made;
  }

  /** Reads and checks the program, so that networks may be opened while other work holds the device's error scopes. */
  async prepare(): Promise<void> {
    await (this.#module ??= loadModule(this.#device));
  }

  async #compile(constants: ProgramConstants): Promise<GPUComputePipeline> {
    const module = await (this.#module ??= loadModule(this.#device));
    const layout = this.#device.createPipelineLayout({ bindGroupLayouts: [this.layout] });
    const compute = { module, entryPoint: "main", constants };
    try {
      return await shareCoreUntil(this.#device.createComputePipelineAsync({ label: "network", layout, compute }));
    } catch (error) {
      const isOurs = error instanceof Error && "reason" in error && error.reason === "validation";
      throw new ProblemError(isOurs ? "kernel-invalid" : "backend-failed", String(error));
    }
  }
}

async function loadModule(device: GPUDevice): Promise<GPUShaderModule> {
  const parts = FILES.map(async (name) => {
    const file = `${name}.wgsl`;
    return { file, code: await readFile(new URL(file, FOLDER), "utf8") };
  });
  return compileParts(device, await Promise.all(parts));
}

/** Binary function in kernels/network/map.wgsl. */
const POWER = 5;
/** First functions that kernels/network/seldom.wgsl computes: of two elements, and of one. */
const FIRST_SELDOM = 16;

/** Constants that leave out the unused parts of the program and set its number of lanes. */
export function constantsOf(operators: readonly ReadyOp[], { lanes }: Pick<Layout, "lanes">): ProgramConstants {
  const has = (test: (numbers: ReadyOp["numbers"]) => boolean) =>
    Number(operators.some(({ numbers }) => test(numbers)));
  const hasKind = (...kinds: (keyof typeof KIND)[]) => has(({ kind }) => kinds.some((each) => KIND[each] === kind));
  const activations = operators.reduce((bits, { numbers }) => bits | (1n << BigInt(numbers["activation"] ?? 0)), 0n);
  return {
    lanes,
    has_map: hasKind("map"),
    has_convolve: hasKind("convolve"),
    has_convolve_each: hasKind("convolveEach"),
    has_dense: has(({ kind, rows }) => kind === KIND.dense && rows === 1),
    has_dense_rows: has(({ kind, rows = 1 }) => kind === KIND.dense && rows > 1),
    has_pool: hasKind("pool"),
    has_reduce: hasKind("reduce"),
    has_softmax: hasKind("softmax"),
    has_recur: hasKind("gru", "lstm"),
    has_power: has(({ kind, which }) => kind === KIND.map && which === POWER),
    has_transposed: has(({ kind, which }) => (kind === KIND.convolve || kind === KIND.convolveEach) && which === 1),
    has_summands: has(({ kind, other }) => kind !== KIND.map && other !== undefined),
    has_grid: has(({ quantised }) => quantised === 1),
    has_product: hasKind("product"),
    has_reduce_seldom: hasKind("reduceSeldom"),
    has_normalise: hasKind("normalise"),
    has_cumulate: hasKind("cumulate"),
    has_scatter: hasKind("scatter"),
    has_select: hasKind("select"),
    has_convolve_far: hasKind("convolveFar"),
    has_seldom: has(({ activation = 0 }) => activation >= FIRST_SELDOM),
    has_seldom_map: has(({ kind, which = 0 }) => kind === KIND.map && which >= FIRST_SELDOM),
    activations: Number(BigInt.asUintN(32, activations)),
    seldom_activations: Number(activations >> 32n),
    has_packed: has(({ weightType = 0 }) => weightType !== 0),
  };
}
