import type { OnnxAttribute, OnnxDtype, OnnxNode, OnnxTensor } from "../../../onnx/onnx-model.ts";
import type { Shape } from "../../../onnx/shape-rule.ts";
import { floatTensor, integerTensor } from "../../../onnx/tensor-values.ts";
import { unsupported } from "./network-value.ts";

export type Attributes = Readonly<Record<string, OnnxAttribute>>;
export const int = (value: number): OnnxAttribute => ({ kind: "int", value });
export const ints = (value: readonly number[]): OnnxAttribute => ({ kind: "ints", value });
export const float = (value: number): OnnxAttribute => ({ kind: "float", value });
export const text = (value: string): OnnxAttribute => ({ kind: "string", value });

interface BodyFacts {
  /** Shapes for one row. */
  readonly shapes: ReadonlyMap<string, Shape>;
  readonly types: ReadonlyMap<string, OnnxDtype>;
  readonly constants: ReadonlyMap<string, OnnxTensor>;
}

/** Nodes that stand for one node. Names of its own values begin with a space, which no file's names do. */
export class Body {
  readonly nodes: OnnxNode[] = [];
  readonly weights: OnnxTensor[] = [];
  readonly node: OnnxNode;
  readonly #prefix: string;
  readonly #shapes: ReadonlyMap<string, Shape>;
  readonly #types: ReadonlyMap<string, OnnxDtype>;
  readonly #constants: ReadonlyMap<string, OnnxTensor>;

  constructor(node: OnnxNode, index: number, { shapes, types, constants }: BodyFacts) {
    this.node = node;
    this.#prefix = ` ${index}.`;
    this.#shapes = shapes;
    this.#types = types;
    this.#constants = constants;
  }

  /** Name of an input; "" where the node lacks it. */
  input(index: number): string {
    return this.node.inputs[index] ?? "";
  }

  output(index = 0): string {
    return this.node.outputs[index] ?? "";
  }

  /** Shape of an input for one row. */
  shapeOf(index: number): Shape {
    const shape = this.#shapes.get(this.input(index));
    if (shape === undefined) throw unsupported(this.node, "its shape depends on computed values");
    return shape;
  }

  isBool(index: number): boolean {
    return this.#types.get(this.input(index)) === "bool";
  }

  /** Tensor of the file that an input is. */
  constant(index: number): OnnxTensor | undefined {
    return this.#constants.get(this.input(index));
  }

  add(operator: string, inputs: readonly string[], attributes: Attributes = {}, output = this.#name()): string {
    const { name } = this.node;
    const node = {
      name,
      operator,
      domain: "",
      inputs,
      outputs: [output],
      attributes: new Map(Object.entries(attributes)),
    };
    this.nodes.push(node);
    return output;
  }

  put(tensor: OnnxTensor): string {
    const named = { ...tensor, name: this.#name() };
    this.weights.push(named);
    return named.name;
  }

  number(value: number): string {
    return this.put(floatTensor("", [], Float32Array.of(value)));
  }

  reshape(value: string, sizes: readonly number[], output?: string): string {
    return this.add("Reshape", [value, this.put(integerTensor("", sizes))], {}, output);
  }

  /** New axes of one element. */
  widen(value: string, axes: readonly number[]): string {
    return this.add("Unsqueeze", [value, this.put(integerTensor("", axes))]);
  }

  slice(value: string, axis: number, [start, end, step = 1]: readonly [number, number, number?]): string {
    const numbers = [[start], [end], [axis], [step]].map((each) => this.put(integerTensor("", each)));
    return this.add("Slice", [value, ...numbers]);
  }

  #name(): string {
    return `${this.#prefix}${this.nodes.length}.${this.weights.length}`;
  }
}
