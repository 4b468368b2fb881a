import { type OnnxModel, type OnnxNode } from "../../onnx/onnx-model.ts";
import { writeModel } from "../../onnx/write-model.ts";

/** A layer that was made smaller. */
export interface CompressedLayer {
  /** The name of its node, or of its first output where that has none. */
  readonly layer: string;
  readonly operator: string;
  /** What was done to it, for people to read. */
  readonly what: string;
}

/** A layer that stayed as it was. */
export interface LeftLayer {
  readonly layer: string;
  readonly operator: string;
  readonly why: string;
}

/** What a transform did to a network. */
export interface CompressionReport<Layer extends CompressedLayer = CompressedLayer> {
  /** Of the file as it is written here, before and after. */
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  readonly done: readonly Layer[];
  readonly left: readonly LeftLayer[];
}

/** A network with the inputs and outputs of another, and what became of each of its layers. */
export interface Compressed<Layer extends CompressedLayer = CompressedLayer> {
  readonly model: OnnxModel;
  readonly report: CompressionReport<Layer>;
}

/** How a report names a node. */
export function layerName({ name, outputs }: OnnxNode): string {
  return name === "" ? outputs[0]! : name;
}

/** What a transform gives back. */
export function reportOn<Layer extends CompressedLayer>(
  before: OnnxModel,
  model: OnnxModel,
  done: readonly Layer[],
  left: readonly LeftLayer[],
): Compressed<Layer> {
  const [bytesBefore, bytesAfter] = [writeModel(before).length, writeModel(model).length];
  return { model, report: { bytesBefore, bytesAfter, done, left } };
}
