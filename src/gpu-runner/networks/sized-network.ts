import { createHash } from "node:crypto";
import { MOST_KNOWN } from "../../onnx/fold-numbers.ts";
import { countElements, nameOperator, type OnnxModel, type OnnxNode, type OnnxValue } from "../../onnx/onnx-model.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import type { Tensor } from "../../protocol/wire/tensor.ts";
import type { InferenceOutcome } from "../devices/ort/ort-backend.ts";
import type { Network } from "./network.ts";
import { type NetworkPlan, planNetwork } from "./plan-network.ts";

/** Plans that are kept at once, each with weights of its own; the one that was used longest ago leaves first. */
const MOST_PLANS = 4;

/** Network that runs. */
export interface RunningNetwork extends Pick<Network, "run" | "close" | "layout"> {
  /** Gives up what its latest run may have left damaged on the device. */
  forgetLatest?(): Promise<void>;
}

interface Sized {
  readonly network: Network;
  /** Inputs that the plan has as constants. */
  readonly settled: ReadonlySet<string>;
}

/**
 * Network whose sizes beyond its rows are free, or follow from the numbers of an input. It is planned anew for each set of
 * sizes and such numbers, and the latest plans are kept.
 */
export class SizedNetwork implements RunningNetwork {
  /** The first plan measures one, after the load. */
  readonly layout = null;
  readonly #model: OnnxModel;
  readonly #open: (plan: NetworkPlan, sizes: string) => Promise<Network>;
  readonly #settling: ReadonlySet<string>;
  /** Latest last. */
  readonly #plans = new Map<string, Sized>();
  #last: Promise<unknown> = Promise.resolve();

  /** `open` gets a plan, and its sizes and numbers as a text that is short enough for a key. */
  constructor(model: OnnxModel, open: (plan: NetworkPlan, sizes: string) => Promise<Network>) {
    this.#model = model;
    this.#open = open;
    this.#settling = findSettling(model);
  }

  /** Whether a network may be planned when its sizes and numbers are known, though it cannot be before. */
  static fits(model: OnnxModel): boolean {
    const free = model.inputs.flatMap(({ shape }) =>
      shape.flatMap((size, axis) => (typeof size === "number" ? [] : axis)),
    );
    if (free.some((axis) => axis > 0) || findSettling(model).size > 0) return true;
    return free.length > 0 && planOrNull(atOneRow(model)) !== null;
  }

  /**
   * Computes the outputs in the model's order. Fails with `invalid-request` for inputs that do not match the network, and
   * with `backend-failed` where it cannot be planned at these sizes: another backend may serve them.
   */
  run(inputs: readonly Tensor[]): Promise<InferenceOutcome> {
    const turn = this.#last.then(async () => {
      const { network, settled } = await this.#networkFor(this.#model.inputs.map((value) => readInput(value, inputs)));
      try {
        return await network.run(inputs.filter(({ name }) => !settled.has(name)));
      } catch (error) {
        // Its buffers may be the reason, and the next request of these sizes gets others.
        if (!(error instanceof ProblemError && error.problem.code === "invalid-request")) await this.#dropLatest();
        throw error;
      }
    });
    this.#last = turn.catch(() => {});
    return turn;
  }

  close(): Promise<void> {
    return this.#last.then(async () => {
      await Promise.all(Array.from(this.#plans.values(), ({ network }) => network.close()));
    });
  }

  forgetLatest(): Promise<void> {
    const turn = this.#last.then(() => this.#dropLatest());
    this.#last = turn;
    return turn;
  }

  async #dropLatest(): Promise<void> {
    const latest = [...this.#plans.keys()].at(-1);
    if (latest !== undefined) await this.#drop(latest);
  }

  async #drop(key: string): Promise<void> {
    const { network } = this.#plans.get(key)!;
    this.#plans.delete(key);
    await network.close();
  }

  async #networkFor(inputs: readonly Tensor[]): Promise<Sized> {
    const isSettled = (tensor: Tensor) => this.#settling.has(tensor.name) || countElements(tensor.shape) === 0;
    const settled = inputs.filter(isSettled);
    const others = inputs.filter((tensor) => !isSettled(tensor));
    const numbers = settled.map(
      ({ name, shape, bytes }) => `${name}=${shape.join()}:${Buffer.from(bytes).toString("hex")}`,
    );
    const keyOf = (from: number) =>
      [...numbers, ...others.map(({ name, shape }) => `${name}=${shape.slice(from).join()}`)].join("|");
    const [ofRows, ofAll] = [keyOf(1), keyOf(0)];
    const haveSameRows = new Set(others.map(({ shape }) => shape[0])).size === 1;
    for (const key of haveSameRows ? [ofRows, ofAll] : [ofAll]) {
      const known = this.#plans.get(key);
      if (known === undefined) continue;
      this.#plans.delete(key);
      this.#plans.set(key, known);
      return known;
    }
    const names = new Set(settled.map(({ name }) => name));
    const byRows = haveSameRows ? this.#planRows(inputs, names) : null;
    const plan = byRows ?? planAt(settle(this.#model, inputs, names, false));
    const [oldest] = this.#plans.keys();
    if (this.#plans.size === MOST_PLANS) await this.#drop(oldest!);
    const key = byRows === null ? ofAll : ofRows;
    const network = await this.#open(plan, shorten(key)).catch((error: unknown) => {
      if (!(error instanceof ProblemError && error.problem.code === "invalid-model")) throw error;
      throw unsuited(error.problem.detail);
    });
    const made = { network, settled: names };
    this.#plans.set(key, made);
    return made;
  }

  /** Plan for any number of rows; null where a first axis is fixed, or the network mixes them. */
  #planRows(inputs: readonly Tensor[], settled: ReadonlySet<string>): NetworkPlan | null {
    const free = this.#model.inputs.filter(({ name }) => !settled.has(name));
    if (free.some(({ shape }) => typeof shape[0] !== "string")) return null;
    return planOrNull(settle(this.#model, inputs, settled, true));
  }
}

/** Longest key that is kept as it is: the numbers of an input may be many. */
const LONGEST_KEY = 128;

function shorten(key: string): string {
  return key.length <= LONGEST_KEY ? key : createHash("sha256").update(key).digest("hex");
}

function atOneRow(model: OnnxModel): OnnxModel {
  const inputs = model.inputs.map((value) => ({
    ...value,
    shape: value.shape.map((size) => (typeof size === "number" ? size : 1)),
  }));
  return { ...model, inputs };
}

function planAt(model: OnnxModel): NetworkPlan {
  try {
    return planNetwork(model);
  } catch (error) {
    throw unsuited(error instanceof ProblemError ? error.problem.detail : String(error));
  }
}

/** What is wrong at these sizes is no failure of the model. */
function unsuited(reason = ""): ProblemError {
  return new ProblemError("backend-failed", `The inputs have sizes or numbers that do not suit the network. ${reason}`);
}

function planOrNull(model: OnnxModel): NetworkPlan | null {
  try {
    return planNetwork(model);
  } catch {
    return null;
  }
}

/** The network at the sizes of its inputs. `settled` ones become constants; with `keepsRows` the first axes stay free. */
function settle(
  model: OnnxModel,
  tensors: readonly Tensor[],
  settled: ReadonlySet<string>,
  keepsRows: boolean,
): OnnxModel {
  const weights = new Map(model.weights);
  const inputs = model.inputs.flatMap((value, index): OnnxValue[] => {
    const { shape, bytes } = tensors[index]!;
    const { name, dtype } = value;
    if (settled.has(name)) {
      weights.set(name, { name, dtype, dims: shape, bytes });
      return [];
    }
    return [{ ...value, shape: keepsRows ? [value.shape[0]!, ...shape.slice(1)] : shape }];
  });
  return { ...model, weights, inputs };
}

function readInput({ name, dtype, shape }: OnnxValue, tensors: readonly Tensor[]): Tensor {
  const tensor = tensors.find((each) => each.name === name);
  const fits =
    tensor?.shape.length === shape.length &&
    shape.every((size, axis) => typeof size === "string" || size === tensor.shape[axis]);
  if (tensor?.dtype === dtype && fits) return tensor;
  const sizes = shape.map((size) => (size === "" ? "any" : size));
  const wanted = `${dtype} [${sizes.join(", ")}]`;
  throw new ProblemError("invalid-request", `The input '${name}' is not ${wanted}.`, {
    errors: [{ pointer: `#/inputs/${name}`, message: `must be ${wanted}` }],
  });
}

/** Operands whose numbers decide about shapes or about the walk over elements, by operator; all of them from the first. */
const DECIDING: Readonly<Record<string, readonly number[]>> = {
  CenterCropPad: [1],
  ConstantOfShape: [0],
  CumSum: [1],
  Dropout: [1, 2],
  Expand: [1],
  OneHot: [1],
  Pad: [1, 2, 3],
  Range: [0, 1, 2],
  Reshape: [1],
  Resize: [1, 2, 3],
  Slice: [1, 2, 3, 4],
  Split: [1],
  Squeeze: [1],
  Tile: [1],
  TopK: [1],
  Trilu: [1],
  Unsqueeze: [1],
  Upsample: [1],
};

function decidingOf({ operator, inputs, domain }: OnnxNode): string[] {
  if (domain !== "") return [];
  const places = operator.startsWith("Reduce") ? [1] : (DECIDING[operator] ?? []);
  return places.flatMap((place) => inputs[place] ?? []);
}

/** Inputs with few numbers from which shapes follow. */
function findSettling(model: OnnxModel): Set<string> {
  const writers = new Map(model.nodes.flatMap((node) => node.outputs.map((name) => [name, node] as const)));
  const found = new Set<string>();
  const seen = new Set<string>();
  const waiting = model.nodes.flatMap(decidingOf);
  const inputs = new Map(model.inputs.map((value) => [value.name, value]));
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (seen.has(name)) continue;
    seen.add(name);
    const input = inputs.get(name);
    if (input !== undefined && isFew(input)) found.add(name);
    const writer = writers.get(name);
    // Numbers of a shape are known without those of the value.
    if (writer !== undefined && !["Shape", "Size"].includes(nameOperator(writer))) waiting.push(...writer.inputs);
  }
  return found;
}

function isFew({ shape }: OnnxValue): boolean {
  return countElements(shape.map((size) => (typeof size === "number" ? size : 1))) <= MOST_KNOWN && shape.length <= 1;
}
