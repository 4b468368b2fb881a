import { readFile } from "node:fs/promises";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { compileParts } from "../devices/gpu/kernel-loader.ts";
import {
  MEET_IN_WORKGROUP,
  NETWORK_FOLDER,
  TILED_VARIANTS,
  TILED_VARIANTS_IN_HALVES,
} from "../../../kernels/network/tiled-operators.ts";
import { HALVES_IN_SLICES } from "../../../kernels/tiled-product/tiled-product.ts";
import type { KernelVariant } from "../../../kernels/kernel-spec.ts";
import { KIND, POWER } from "./lowering/network-op.ts";
import type { ReadyOp } from "./plan-network.ts";
import type { Dispatch, Entry } from "./schedule-operators.ts";
import type { NetworkLayout } from "../../protocol/models/network-layout.ts";
import { shareCoreUntil } from "../devices/gpu/wait-for-gpu.ts";

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

const ENTRY_FILES: Readonly<Record<Entry, readonly URL[]>> = {
  run_network: [],
  run_lines: [new URL("lines.wgsl", NETWORK_FOLDER), MEET_IN_WORKGROUP],
  attend: [new URL("attention.wgsl", NETWORK_FOLDER)],
  round_rows: [new URL("round-rows.wgsl", NETWORK_FOLDER)],
};
const TILED_FILE = new URL("tiled.wgsl", NETWORK_FOLDER);

type TileVariant = KernelVariant<"rows" | "columns" | "products">;

/** `override` constants of a pipeline. */
type ProgramConstants = Readonly<Record<string, number>>;

/** Program that runs networks, compiled once for all with the same kinds of operators, and its bindings. */
export class NetworkProgram {
  readonly layout: GPUBindGroupLayout;
  readonly #device: GPUDevice;
  readonly #pipelines = new Map<string, Promise<GPUComputePipeline>>();
  readonly #modules = new Map<string, Promise<GPUShaderModule>>();

  constructor(device: GPUDevice) {
    this.#device = device;
    const types: GPUBufferBindingType[] = ["uniform", "read-only-storage", "read-only-storage", "storage", "storage"];
    this.layout = device.createBindGroupLayout({
      entries: types.map((type, binding) => ({ binding, visibility: GPUShaderStage.COMPUTE, buffer: { type } })),
    });
  }

  /** Fails with `kernel-invalid` where the device does not support so many lanes. */
  pipelineFor(entry: Entry, constants: ProgramConstants): Promise<GPUComputePipeline> {
    return this.#find(ENTRY_FILES[entry], entry, constants);
  }

  /** Pipeline of tiled operators. Fails likewise. */
  tilePipelineFor(variant: TileVariant, constants: ProgramConstants): Promise<GPUComputePipeline> {
    return this.#find(filesOf(variant), "main", constants);
  }

  #find(files: readonly URL[], entryPoint: string, constants: ProgramConstants): Promise<GPUComputePipeline> {
    const key = JSON.stringify([files, constants]);
    const known = this.#pipelines.get(key);
    if (known !== undefined) return known;
    const made = this.#compile(files, entryPoint, constants);
    this.#pipelines.set(key, made);
    made.catch(() => this.#pipelines.delete(key));
    return made;
  }

  /** Reads and checks the program, so that networks may be opened while other work holds the device's error scopes. */
  async prepare(): Promise<void> {
    const inHalves = this.#device.features.has("shader-f16") ? TILED_VARIANTS_IN_HALVES : [];
    const files = [...Object.values(ENTRY_FILES), ...[...TILED_VARIANTS, ...inHalves].map(filesOf)];
    await Promise.all(files.map((each) => this.#load(each)));
  }

  async #compile(files: readonly URL[], entryPoint: string, constants: ProgramConstants): Promise<GPUComputePipeline> {
    const module = await this.#load(files);
    const layout = this.#device.createPipelineLayout({ bindGroupLayouts: [this.layout] });
    const compute = { module, entryPoint, constants };
    const label = `network/${entryPoint}`;
    try {
      return await shareCoreUntil(this.#device.createComputePipelineAsync({ label, layout, compute }));
    } catch (error) {
      const isOurs = error instanceof Error && "reason" in error && error.reason === "validation";
      throw new ProblemError(isOurs ? "kernel-invalid" : "backend-failed", String(error));
    }
  }

  #load(files: readonly URL[]): Promise<GPUShaderModule> {
    const key = files.join();
    const known = this.#modules.get(key);
    if (known !== undefined) return known;
    const module = loadModule(this.#device, files);
    this.#modules.set(key, module);
    module.catch(() => this.#modules.delete(key));
    return module;
  }
}

function filesOf({ file, shared }: TileVariant): URL[] {
  return [TILED_FILE, new URL(file, NETWORK_FOLDER), ...shared!];
}

async function loadModule(device: GPUDevice, files: readonly URL[]): Promise<GPUShaderModule> {
  const own = FILES.map((name) => new URL(`${name}.wgsl`, NETWORK_FOLDER));
  const parts = [...own, ...files].map(async (url) => {
    return { file: url.pathname.split("/").slice(-2).join("/"), code: await readFile(url, "utf8") };
  });
  // A directive stands before all else, and only a device that has the feature takes it.
  const isInHalves = files.some((url) => url.href === HALVES_IN_SLICES.href);
  const directives = isInHalves ? [{ file: "directives", code: "enable f16;" }] : [];
  return compileParts(device, [...directives, ...(await Promise.all(parts))]);
}

/** First functions that kernels/network/seldom.wgsl computes: of two elements, and of one. */
const FIRST_SELDOM = 16;

/** Constants that leave out the unused parts of the program and set its number of lanes. */
export function constantsOf(operators: readonly ReadyOp[], { lanes }: Pick<NetworkLayout, "lanes">): ProgramConstants {
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
    weight_types: weightTypesOf(operators),
  };
}

/** A bit for each type of weights that operators read; that of floats where they read none. */
function weightTypesOf(operators: readonly ReadyOp[]): number {
  const types = operators.flatMap(({ numbers: { weightType } }) => weightType ?? []);
  return types.length === 0 ? 1 : types.reduce((bits, type) => bits | (1 << type), 0);
}

/** Program of a dispatch: its pipeline, and its workgroups for a number of rows. */
export interface DispatchProgram {
  readonly pipeline: GPUComputePipeline;
  readonly groupsFor: (rows: number) => readonly [number, number, number];
}

/** Programs of all dispatches, compiled beside each other. Tiled operators of one form share a pipeline. */
export function programsFor(
  program: NetworkProgram,
  dispatches: readonly Dispatch[],
  layout: NetworkLayout,
): Promise<DispatchProgram[]> {
  return Promise.all(
    dispatches.map(async ({ tile, entry, lanes, groups }): Promise<DispatchProgram> => {
      const isAlike = (each: Dispatch) =>
        tile === undefined ? each.tile === undefined && each.entry === entry : formOf(each) === formOf({ tile });
      const operators = dispatches.filter(isAlike).flatMap((each) => each.operators);
      if (tile === undefined) {
        const pipeline = await program.pipelineFor(entry, constantsOf(operators, { lanes }));
        return { pipeline, groupsFor: (rows) => [groups[0], rows, groups[1]] };
      }
      const { variant, axes, structure } = tile;
      const constants = {
        ...constantsOf(operators, layout),
        ...axes,
        tiled_kind: KIND[tile.kind],
        is_aligned: Number(tile.isAligned),
        tiled_weights: tile.weights,
        has_block_scales: Number(tile.hasBlocks),
        // Only pictures in registers are read in vectors of channels.
        ...(tile.hasRest !== undefined && structure === "in-registers" && { has_rest: Number(tile.hasRest) }),
      };
      return {
        pipeline: await program.tilePipelineFor(variant, constants),
        groupsFor: (rows) => variant.passes[0]!.workgroups({ ...tile, products: rows * tile.products }, axes),
      };
    }),
  );
}

function formOf({ tile }: Pick<Dispatch, "tile">): string {
  return `${tile?.kind} ${tile?.variant.file} ${tile?.structure} ${tile?.isAligned} ${tile?.hasRest} ${tile?.weights} ${tile?.hasBlocks}`;
}
