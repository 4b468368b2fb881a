import { countElements, type OnnxDtype, type OnnxModel, type OnnxNode } from "../../../onnx/onnx-model.ts";
import { inferFacts, type ModelFacts } from "../../../onnx/infer-shapes.ts";
import { inferTypes } from "../../../onnx/infer-types.ts";
import {
  type Activation,
  type Constant,
  type Grid,
  type NetworkValue,
  readConstant,
  type Region,
  unsupported,
} from "./network-value.ts";
import type { NarrowBits } from "../../../../kernels/network/tiled-operators.ts";
import { type Kind, type OpNumbers, writeWalk, SECOND } from "./network-op.ts";
import { WeightPool } from "./weight-pool.ts";

/** Location of elements in the arena. */
export type Spot = Pick<Activation, "region" | "offset">;

/** Operator whose place in the arena is not known yet. */
export interface PlannedOp {
  readonly kind: Kind;
  numbers: OpNumbers;
  readonly input?: Spot;
  other?: Spot;
  readonly output?: Spot;
  /** Cells of recurrent layers, and their initial values. */
  readonly cells?: Spot;
  readonly firstCells?: Spot;
  /** Second operand of a product of activations. */
  readonly factor?: Spot;
  /** Recurrent layers: temporary location of the products of the states for the gates. */
  readonly products?: Spot;
  /**
   * Temporary location of the input in another form: of heavy convolutions the picture with its channels together, of
   * narrow products the rounded rows, which products of one value share.
   */
  readonly turned?: Spot;
  /** Number of multiplications or similar, which decides how operators are spread over workgroups. */
  readonly work: number;
}

/** Kinds that can add an operand of their output's shape; kinds that can end with an activation. */
const ADDS: ReadonlySet<Kind> = new Set([
  "convolve",
  "convolveEach",
  "convolveFar",
  "dense",
  "pool",
  "reduce",
  "product",
]);
const FINISHES: ReadonlySet<Kind> = new Set([...ADDS, "map", "reduceSeldom", "normalise"]);

/** State of a network while its nodes become operators of the kernels, one after the other. */
export class Lowering {
  readonly weights = new WeightPool();
  readonly operators: PlannedOp[] = [];
  readonly #values = new Map<string, NetworkValue>();
  /** Number of readers of each value, the caller of the network included. */
  readonly #readers = new Map<string, number>();
  readonly #facts: ModelFacts;
  readonly #factsOfTwo: ModelFacts;
  readonly #types: ReadonlyMap<string, OnnxDtype>;
  /** Constants that were copied into the arena, so that they can be operands of any kernel. */
  readonly #copies = new Map<Constant, Activation>();
  /** Places of values that are rounded for narrow products, by names and bits. */
  readonly #rounded = new Map<string, Spot>();
  readonly #whole: ReadonlySet<OnnxNode>;
  readonly #inputs: ReadonlySet<string>;
  /** Version of ONNX's own operators. */
  readonly opset: number;

  /** `whole`: nodes that may be computed in whole numbers. */
  constructor(model: OnnxModel, whole: readonly OnnxNode[] = []) {
    this.#whole = new Set(whole);
    this.opset = model.opset;
    this.#inputs = new Set(model.inputs.map(({ name }) => name));
    this.#facts = inferFacts(model, 1);
    this.#factsOfTwo = inferFacts(model, 2);
    this.#types = inferTypes(model);
    const read = [...model.nodes.flatMap(({ inputs }) => inputs), ...model.outputs.map(({ name }) => name)];
    for (const name of read) this.#readers.set(name, (this.#readers.get(name) ?? 0) + 1);
    for (const [name, tensor] of model.weights) {
      const constant = readConstant(tensor);
      if (constant !== null) this.#values.set(name, constant);
    }
  }

  find(name: string): NetworkValue | undefined {
    return this.#values.get(name);
  }

  dtypeOf(name: string): OnnxDtype | undefined {
    return this.#types.get(name);
  }

  isWhole(node: OnnxNode): boolean {
    return this.#whole.has(node);
  }

  /** Place of rows that are rounded to so many bits, which products of one value share. */
  roundedOf(name: string, bits: NarrowBits, words: number): Spot {
    const key = `${bits} ${name}`;
    const spot = this.#rounded.get(key) ?? { region: { words }, offset: 0 };
    this.#rounded.set(key, spot);
    return spot;
  }

  /** Whether a value is an input of the network. */
  isInput(name: string): boolean {
    return this.#inputs.has(name);
  }

  /**
   * Numbers of a value that follow from shapes and constants: `varying` where they differ by the number of rows, so that
   * only shapes may follow from them; null where they are computed.
   */
  numbersOf(name: string): Constant | "varying" | null {
    const [one, two] = [this.#facts, this.#factsOfTwo].map(({ numbers, shapes }) => ({
      values: numbers.get(name)?.values,
      shape: shapes.get(name),
    }));
    const { values, shape } = one!;
    // What grows with the rows is no shape.
    if (values === undefined || shape === undefined || shape.join() !== two!.shape?.join()) return null;
    if (values.join() !== two!.values?.join()) return "varying";
    return countElements(shape) === values.length
      ? { kind: "constant", shape, floats: Float32Array.from(values) }
      : null;
  }

  /** Input of a node; refuses values that are unknown. */
  valueOf(node: OnnxNode, input: number): NetworkValue {
    const name = node.inputs[input] ?? "";
    const value = this.#values.get(name);
    if (value === undefined) throw unsupported(node, name === "" ? `it lacks input ${input}` : `'${name}' is unknown`);
    return value;
  }

  /** Input of a node in the arena; a constant is copied there. */
  activationOf(node: OnnxNode, input: number): Activation {
    return this.inArena(this.valueOf(node, input));
  }

  inArena(value: NetworkValue): Activation {
    return value.kind === "activation" ? value : this.#copy(value);
  }

  #copy(constant: Constant): Activation {
    const known = this.#copies.get(constant);
    if (known !== undefined) return known;
    const { shape, floats } = constant;
    const items = floats.length;
    const copy: Activation = { kind: "activation", shape, rowAxis: -1, region: { words: items }, offset: 0 };
    const walk = writeWalk([{ size: items, a: 0, b: 1, out: 1 }]);
    const numbers = { ...walk, which: SECOND, other: this.weights.putFloats(floats), otherIsConstant: 1, items };
    this.operators.push({ kind: "map", numbers, output: copy, work: items });
    this.#copies.set(constant, copy);
    return copy;
  }

  constantOf(node: OnnxNode, input: number): Constant {
    const value = this.valueOf(node, input);
    if (value.kind === "constant") return value;
    throw unsupported(node, `input ${input} is computed`);
  }

  /** Constant input of a node; undefined where the node lacks this input. */
  optionalConstant(node: OnnxNode, input: number): Constant | undefined {
    return node.inputs[input] ? this.constantOf(node, input) : undefined;
  }

  /** Shape of a node's output for one row, and the axis that grows with the rows. */
  shapeOf(node: OnnxNode, output = 0): Pick<Activation, "shape" | "rowAxis"> {
    const name = node.outputs[output] ?? "";
    const [shape, ofTwo] = [this.#facts, this.#factsOfTwo].map(({ shapes }) => shapes.get(name));
    if (shape === undefined || ofTwo === undefined) throw unsupported(node, "its shape depends on computed values");
    if (countElements(shape) === 0) throw unsupported(node, "its output is empty");
    const grown = ofTwo.flatMap((size, axis) => (size === shape[axis] ? [] : [axis]));
    const [rowAxis = -1] = grown;
    if (grown.length > 1 || (rowAxis >= 0 && ofTwo[rowAxis] !== 2 * shape[rowAxis]!)) {
      throw unsupported(node, "its rows are not computed by themselves");
    }
    if (rowAxis < 0 && node.inputs.some((input) => this.#grows(input))) throw unsupported(node, "it mixes rows");
    return { shape, rowAxis };
  }

  #grows(name: string): boolean {
    const value = this.#values.get(name);
    return value?.kind === "activation" && value.rowAxis >= 0;
  }

  /** Shape of a value that follows from constants. */
  constantShapeOf(node: OnnxNode): readonly number[] {
    const shape = this.#facts.shapes.get(node.outputs[0] ?? "");
    if (shape === undefined) throw unsupported(node, "its shape depends on computed values");
    return shape;
  }

  define(name: string, value: NetworkValue): void {
    this.#values.set(name, value);
  }

  /** New place for a node's output. */
  reserve(node: OnnxNode, output = 0): Activation {
    const form = this.shapeOf(node, output);
    return { kind: "activation", ...form, region: { words: countElements(form.shape) }, offset: 0 };
  }

  /** Adds the operator that computes a node's output. */
  emit(node: OnnxNode, op: Omit<PlannedOp, "output">, output = this.reserve(node)): void {
    this.operators.push({ ...op, output });
    this.define(node.outputs[0]!, output);
  }

  /** Same elements, or part of them, under another name and shape. */
  view(node: OnnxNode, { region, offset, grid }: Activation, from = 0): void {
    const form = this.shapeOf(node);
    this.define(node.outputs[0]!, {
      kind: "activation",
      ...form,
      region,
      offset: offset + from,
      ...(grid !== undefined && { grid }),
    });
  }

  /** Appends an activation to the operator that computed a node's input, where that input has no other reader. */
  finish(node: OnnxNode, numbers: OpNumbers): boolean {
    const op = this.#soleWriter(node.inputs[0]!);
    if (op === null || !FINISHES.has(op.kind) || "activation" in op.numbers || "quantised" in op.numbers) return false;
    op.numbers = { ...op.numbers, ...numbers };
    this.view(node, this.activationOf(node, 0));
    return true;
  }

  /** Appends the grid of a quantised network likewise; it may follow an activation. */
  quantise(node: OnnxNode, grid: Grid): boolean {
    const op = this.#soleWriter(node.inputs[0]!);
    if (op === null || !FINISHES.has(op.kind) || "quantised" in op.numbers) return false;
    op.numbers = { ...op.numbers, quantised: 1, ...grid };
    return true;
  }

  /** Lets the operator that computed one summand add the other, which must be computed before it. */
  add(node: OnnxNode): boolean {
    const output = this.shapeOf(node);
    const sides = [0, 1].map((input) => {
      const value = this.activationOf(node, input);
      const fits = value.shape.join() === output.shape.join();
      return { value, fits, writer: this.#soleWriter(node.inputs[input]!) };
    });
    if (!sides.every(({ fits }) => fits)) return false;
    for (const [index, { writer, value }] of sides.entries()) {
      const other = sides[1 - index]!.value;
      if (writer === null || !ADDS.has(writer.kind) || writer.other !== undefined) continue;
      if ("activation" in writer.numbers || "quantised" in writer.numbers) continue;
      if (value.region === other.region || this.#lastWriteOf(other.region) >= this.operators.indexOf(writer)) continue;
      writer.other = other;
      this.view(node, value);
      return true;
    }
    return false;
  }

  /** Lets a dense operator without a bias add a constant to each row of its output. */
  addBias(node: OnnxNode, input: number, { shape, floats }: Constant): boolean {
    const op = this.#soleWriter(node.inputs[input]!);
    const filters = op?.numbers["filters"];
    const isBare = op?.kind === "dense" && op.other === undefined && op.numbers["bias"] === -1;
    if (!isBare || "activation" in op.numbers || "quantised" in op.numbers) return false;
    if (floats.length !== filters || shape.at(-1) !== filters) return false;
    op.numbers = { ...op.numbers, bias: this.weights.putFloats(floats) };
    this.view(node, this.activationOf(node, input));
    return true;
  }

  #lastWriteOf(region: Region): number {
    return this.operators.findLastIndex(({ output, cells }) => output?.region === region || cells?.region === region);
  }

  /** Operator that computes all of a value that only one node reads; else null. */
  #soleWriter(name: string): PlannedOp | null {
    const value = this.#values.get(name);
    if (value?.kind !== "activation" || this.#readers.get(name) !== 1) return null;
    const writers = this.operators.filter(({ output }) => output?.region === value.region);
    const isRead = this.operators.some(({ input, other, factor }) =>
      [input, other, factor].some((spot) => spot?.region === value.region),
    );
    const whole = value.region.words === countElements(value.shape);
    return writers.length === 1 && whole && !isRead ? writers[0]! : null;
  }
}
