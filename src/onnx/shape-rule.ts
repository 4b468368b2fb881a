import type { OnnxNode } from "./onnx-model.ts";

export type Shape = readonly number[];

/** What a rule knows of the network besides the shapes of a node's inputs. */
export interface ShapeContext {
  readonly node: OnnxNode;
  /** Version of ONNX's own operators. */
  readonly opset: number;
  readonly inputs: readonly (Shape | undefined)[];
  /** The few numbers of an input that are known without computing on data, such as those of a shape. */
  readonly numbers: (input: number) => readonly number[] | undefined;
}

/** Shapes of the outputs; undefined where it cannot be said. */
export type ShapeRule = (context: ShapeContext) => Shape[] | undefined;

/** An axis counted from the first; negative ones are counted from behind. */
export function along(axis: number, shape: Shape): number {
  return axis < 0 ? axis + shape.length : axis;
}
