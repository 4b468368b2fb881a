import { type OnnxModel, type OnnxNode } from "../../onnx/onnx-model.ts";
import { writeModel } from "../../onnx/write-model.ts";

/** Layer that was made smaller. */
export interface CompressedLayer {
  /** Name of its node, or of its first output where that has none. */
  readonly layer: string;
  readonly operator: string;
  /** Description of the change, for people. */
  readonly what: string;
}

/** Unchanged layer. */
export interface LeftLayer {
  readonly layer: string;
  readonly operator: string;
  readonly why: string;
}

/** Result of a transform on a network. */
export interface CompressionReport<Layer extends CompressedLayer = CompressedLayer> {
  /** Size of the file as written here, before and after. */
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  readonly done: readonly Layer[];
  readonly left: readonly LeftLayer[];
}

/** Network with the inputs and outputs of another, and the report on its layers. */
export interface Compressed<Layer extends CompressedLayer = CompressedLayer> {
  readonly model: OnnxModel;
  readonly report: CompressionReport<Layer>;
}

/** Name of a node in a report. */
export function layerName({ name, outputs }: OnnxNode): string {
  return name === "" ? outputs[0]! : name;
}

/** Result of a transform with its report. */
export function reportOn<Layer extends CompressedLayer>(
  before: OnnxModel,
  model: OnnxModel,
  done: readonly Layer[],
  left: readonly LeftLayer[],
): Compressed<Layer> {
  const [bytesBefore, bytesAfter] = [writeModel(before).length, writeModel(model).length];
  return { model, report: { bytesBefore, bytesAfter, done, left } };
}
