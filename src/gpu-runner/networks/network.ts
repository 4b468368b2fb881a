import type { NarrowBits } from "../../../kernels/network/tiled-operators.ts";
import { seededUniform } from "../../../kernels/seeded-uniform.ts";
import { MAX_GROUPS } from "../../../kernels/webgpu-limits.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import type { NetworkLayout } from "../../protocol/models/network-layout.ts";
import { countElements, DTYPE_BYTES, type Tensor, typedView } from "../../protocol/wire/tensor.ts";
import { shareCoreUntil } from "../devices/gpu/wait-for-gpu.ts";
import type { InferenceOutcome } from "../devices/ort/ort-backend.ts";
import { bindNetwork, type BoundNetwork, writeTables } from "./network-buffers.ts";
import type { NetworkContext } from "./open-network.ts";
import { type DispatchProgram, type NetworkProgram, programsFor } from "./network-program.ts";
import type { NetworkEnd, NetworkPlan, ReadyOp } from "./plan-network.ts";
import { type Dispatch, scheduleOperators } from "./schedule-operators.ts";

const MiB = 2 ** 20;
/** Largest size of a batch's activations; larger batches run in parts. */
const MAX_ARENA_BYTES = 64 * MiB;

/** Whole numbers up to here are exact in float32, in which activations are kept. */
const LARGEST_WHOLE = 2 ** 24;
const LARGE: ReadonlySet<string> = new Set(["int32", "uint32", "int64", "uint64"]);

/** Of the inputs by which layouts are measured. */
const SEED = 1;

interface Spread {
  readonly layout: NetworkLayout;
  readonly dispatches: readonly Dispatch[];
  readonly programs: readonly DispatchProgram[];
  readonly table: GPUBuffer;
  readonly offsets: readonly number[];
}

/** Network on a device. Runs are queued. */
export class Network {
  /** Rows of one pass; larger batches run in several. */
  readonly rowsAtMost: number;
  readonly #context: NetworkContext;
  readonly #program: NetworkProgram;
  readonly #plan: NetworkPlan;
  /** Those of the plan, without arithmetic that the device lacks. */
  readonly #operators: readonly ReadyOp[];
  readonly #weights: GPUBuffer;
  #spread: Spread | null = null;
  #bound: BoundNetwork | null = null;
  #last: Promise<unknown> = Promise.resolve();

  constructor(context: NetworkContext, program: NetworkProgram, plan: NetworkPlan, weights: GPUBuffer) {
    this.#context = context;
    this.#program = program;
    this.#plan = plan;
    const hasHalves = context.device.features.has("shader-f16");
    this.#operators = hasHalves
      ? plan.operators
      : plan.operators.map((op) => (op.narrow?.bits === 16 ? { ...op, narrow: null } : op));
    this.#weights = weights;
    const { maxStorageBufferBindingSize } = context.device.limits;
    const rowBytes = 4 * Math.max(plan.arenaWords, plan.endWords);
    const fitting = Math.floor(Math.min(MAX_ARENA_BYTES, maxStorageBufferBindingSize) / rowBytes);
    if (rowBytes > maxStorageBufferBindingSize || plan.weights.byteLength > maxStorageBufferBindingSize) {
      throw new ProblemError(
        "invalid-model",
        "The wgsl backend cannot hold the network in one of the device's buffers.",
      );
    }
    const products = Math.max(1, ...plan.operators.map(({ tile }) => tile?.products ?? 1));
    this.rowsAtMost = plan.isFixed ? 1 : Math.max(1, Math.min(Math.floor(MAX_GROUPS / products), fitting));
  }

  /** Dispatches of one pass. */
  get dispatches(): number {
    return this.#spread?.dispatches.length ?? 0;
  }

  /** Current grouping of the operators, to recognise layouts that are equivalent. */
  get shape(): string {
    return (
      this.#spread?.dispatches
        .map(({ operators, entry, lanes, groups, tile }) =>
          tile === undefined
            ? `${operators.length}x${entry} ${lanes} ${groups.join()}`
            : `${operators.length}x${tile.kind} ${tile.variant.file} ${tile.structure} ${JSON.stringify(tile.axes)}`,
        )
        .join() ?? ""
    );
  }

  /** Whether some of its operators are worth the catalogue's large tiles. */
  get hasTiles(): boolean {
    return this.#plan.operators.some(({ tile }) => tile !== null && tile.isHeavy);
  }

  /** Bits of the coarsest numbers that its narrow products would round rows to; null where it has none. */
  get narrowBits(): NarrowBits | null {
    const bits = this.#operators.flatMap(({ narrow }) => narrow?.bits ?? []);
    return bits.includes(8) ? 8 : (bits[0] ?? null);
  }

  /** Current layout, which a later load may be given. */
  get layout(): NetworkLayout | null {
    return this.#spread?.layout ?? null;
  }

  /** Inputs to measure it by: floats from -1 to 1, and ones of other types, by which a mask hides nothing. */
  examples(rows: number): Tensor[] {
    return this.#plan.inputs.map(({ name, dtype, shape, words }, index) => {
      const values = dtype === "float32" ? seededUniform(SEED, index, rows * words) : null;
      const bytes = new Uint8Array(values?.buffer ?? new ArrayBuffer(rows * words * DTYPE_BYTES[dtype]));
      const tensor = { name, dtype, shape: this.#shapeOfRows(shape, rows), bytes };
      const view = typedView(tensor);
      if (view instanceof BigInt64Array || view instanceof BigUint64Array) view.fill(1n);
      else if (dtype !== "float32") view.fill(1);
      return tensor;
    });
  }

  #shapeOfRows(shape: readonly number[], rows: number): number[] {
    return this.#plan.isFixed ? [...shape] : shape.with(0, rows);
  }

  /** Whether its first axes are rows, of any number. */
  get hasRows(): boolean {
    return !this.#plan.isFixed;
  }

  /** Switches to a layout that was measured before; false where a newer driver or release refuses it. */
  async trySpread(layout: NetworkLayout): Promise<boolean> {
    try {
      await this.spread(layout);
      return true;
    } catch {
      return false;
    }
  }

  /** Compiles the programs of a layout. Fails with `kernel-invalid` likewise. */
  async compile(layout: NetworkLayout): Promise<void> {
    await programsFor(this.#program, scheduleOperators(this.#operators, layout), layout);
  }

  /** Switches to another layout. Fails with `kernel-invalid` where the device does not support it. */
  async spread(layout: NetworkLayout): Promise<void> {
    const { device, pool } = this.#context;
    const dispatches = scheduleOperators(this.#operators, layout);
    const programs = await programsFor(this.#program, dispatches, layout);
    const { bytes, offsets } = writeTables(dispatches);
    const table = pool.acquire(bytes.byteLength, GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST);
    device.queue.writeBuffer(table, 0, bytes);
    this.#release();
    this.#spread = { layout, dispatches, programs, table, offsets };
  }

  /**
   * Computes the outputs of any number of rows, in the model's order. Fails with `invalid-request` for inputs that do
   * not match the network.
   */
  run(inputs: readonly Tensor[]): Promise<InferenceOutcome> {
    const turn = this.#last.then(() => this.#run(inputs));
    this.#last = turn.catch(() => {});
    return turn;
  }

  /** Releases its buffers once running work has ended. */
  close(): Promise<void> {
    return this.#last.then(() => {
      this.#release();
      this.#context.pool.release(this.#weights);
    });
  }

  async #run(inputs: readonly Tensor[]): Promise<InferenceOutcome> {
    const startedAt = performance.now();
    const values = this.#plan.inputs.map((end) => readInput(end, inputs, this.#plan.isFixed));
    const rows = this.#plan.isFixed ? 1 : values[0]!.length / this.#plan.inputs[0]!.words;
    if (!values.every(({ length }, index) => length === rows * this.#plan.inputs[index]!.words)) {
      throw new ProblemError("invalid-request", "The inputs have different numbers of rows.");
    }
    const outputs = this.#plan.outputs.map(({ words }) => new Float32Array(rows * words));
    const times = { uploadMs: performance.now() - startedAt, computeMs: 0, readbackMs: 0 };
    for (let first = 0; first < rows; first += this.rowsAtMost) {
      const part = { first, rows: Math.min(this.rowsAtMost, rows - first) };
      const spent = await this.#runPart(values, outputs, part);
      times.uploadMs += spent.uploadMs;
      times.computeMs += spent.computeMs;
      times.readbackMs += spent.readbackMs;
    }
    const tensors = this.#plan.outputs.map((end, index) =>
      writeOutput(end, this.#shapeOfRows(end.shape, rows), outputs[index]!),
    );
    return { tensors, times };
  }

  async #runPart(
    values: readonly Float32Array<ArrayBuffer>[],
    outputs: readonly Float32Array[],
    { first, rows }: { readonly first: number; readonly rows: number },
  ): Promise<InferenceOutcome["times"]> {
    const { device } = this.#context;
    const { ends, staging, bindings } = this.#roomFor(rows);
    const startedAt = performance.now();
    for (const [index, { before, words }] of this.#plan.inputs.entries()) {
      device.queue.writeBuffer(ends, 4 * rows * before, values[index]!, first * words, rows * words);
    }
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    for (const [index, { pipeline, groupsFor }] of this.#spread!.programs.entries()) {
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, bindings[index]);
      pass.dispatchWorkgroups(...groupsFor(rows));
    }
    pass.end();
    const from = 4 * rows * this.#plan.outputs[0]!.before;
    const bytes = 4 * rows * this.#plan.endWords - from;
    encoder.copyBufferToBuffer(ends, from, staging, 0, bytes);
    device.queue.submit([encoder.finish()]);
    const uploadedAt = performance.now();
    await shareCoreUntil(staging.mapAsync(GPUMapMode.READ, 0, bytes));
    const computedAt = performance.now();
    const found = new Float32Array(staging.getMappedRange(0, bytes));
    for (const [index, { before, words }] of this.#plan.outputs.entries()) {
      const at = (before - this.#plan.outputs[0]!.before) * rows;
      outputs[index]!.set(found.subarray(at, at + rows * words), first * words);
    }
    staging.unmap();
    const readbackMs = performance.now() - computedAt;
    return { uploadMs: uploadedAt - startedAt, computeMs: computedAt - uploadedAt, readbackMs };
  }

  /** Buffers for at least this many rows; they are kept, and grow by doubling. */
  #roomFor(rows: number): BoundNetwork {
    if (this.#bound !== null && this.#bound.rows >= rows) return this.#bound;
    this.#bound?.release();
    this.#bound = null;
    const room = Math.min(this.rowsAtMost, 2 ** Math.ceil(Math.log2(rows)));
    const { table, offsets } = this.#spread!;
    const parts = { table, offsets, weights: this.#weights, rows: room };
    this.#bound = bindNetwork(this.#context, this.#program.layout, this.#plan, parts);
    return this.#bound;
  }

  #release(): void {
    this.#bound?.release();
    this.#bound = null;
    if (this.#spread !== null) this.#context.pool.release(this.#spread.table);
    this.#spread = null;
  }
}

/** Numbers of an input in the kernels' format. */
function readInput(
  { name, dtype, shape, words }: NetworkEnd,
  tensors: readonly Tensor[],
  isFixed: boolean,
): Float32Array<ArrayBuffer> {
  const tensor = tensors.find((each) => each.name === name);
  const sizes = isFixed ? shape : ["rows", ...shape.slice(1)];
  const wanted = `${dtype} [${sizes.join(", ")}]`;
  const rows = tensor?.shape[0] ?? 1;
  const fits = tensor?.dtype === dtype && tensor.shape.join() === (isFixed ? shape : shape.with(0, rows)).join();
  if (!fits || countElements(tensor.shape) === 0) {
    throw new ProblemError("invalid-request", `The input '${name}' is not ${wanted}.`, {
      errors: [{ pointer: `#/inputs/${name}`, message: `must be ${wanted}` }],
    });
  }
  const values = typedView(tensor);
  if (values.length !== (isFixed ? 1 : rows) * words) {
    throw new ProblemError("invalid-request", `The input '${name}' does not fill its shape.`);
  }
  if (values instanceof Float32Array && values.buffer instanceof ArrayBuffer)
    return values as Float32Array<ArrayBuffer>;
  const floats = Float32Array.from(values as ArrayLike<number | bigint>, Number);
  if (LARGE.has(dtype) && floats.some((value) => Math.abs(value) > LARGEST_WHOLE)) {
    const message = `must lie between -${LARGEST_WHOLE} and ${LARGEST_WHOLE} on the wgsl backend, which computes in float32`;
    throw new ProblemError("invalid-request", `The input '${name}' has numbers that float32 does not hold.`, {
      errors: [{ pointer: `#/inputs/${name}`, message }],
    });
  }
  return floats;
}

function writeOutput({ name, dtype }: NetworkEnd, shape: number[], values: Float32Array): Tensor {
  const whole = { name, dtype, shape };
  if (dtype === "float32") return { ...whole, bytes: new Uint8Array(values.buffer) };
  const bytes = new Uint8Array(values.length * DTYPE_BYTES[dtype]);
  const view = typedView({ ...whole, bytes });
  if (view instanceof BigInt64Array || view instanceof BigUint64Array) view.set(Array.from(values, BigInt));
  else view.set(values);
  return { ...whole, bytes };
}
