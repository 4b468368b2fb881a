import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/** A dense layer `y = x · weightsᵀ + bias`; `weights` is [outputs, inputs] row by row, `bias` is [outputs]. */
export type DenseLayer = { inputs: number; outputs: number; weights: Float32Array; bias: Float32Array };

export type OnnxMlp = {
  /** Name of the graph. */
  name: string;
  /** Name of the float32 input [batch, inputs of the first layer]; the batch is free. */
  input: string;
  /** Name of the float32 output [batch, outputs of the last layer]. */
  output: string;
  /** At least one; tanh stands between two layers, none after the last. */
  layers: readonly DenseLayer[];
};

/** What the file declares: Gemm and Tanh are at revision 13 in it. */
export const ONNX_OPSET = 17;
const IR_VERSION = 8; // the one that came with opset 17; newer ones are refused by older runtimes
const FLOAT = 1; // TensorProto.DataType.FLOAT
const ATTRIBUTE_INT = 2; // AttributeProto.AttributeType.INT

/**
 * A dense network as the bytes of an ONNX file: Gemm, Tanh, …, Gemm, weights inside. The same network gives
 * the same bytes. Field numbers are those of onnx.proto (onnx/onnx, IR version 8).
 *
 * @throws RangeError where the layers do not fit each other or their arrays.
 */
export function writeOnnxMlp(mlp: OnnxMlp): Uint8Array<ArrayBuffer> {
  assertLayersFit(mlp.layers);
  const model = new BinaryWriter();
  model.tag(1, WireType.Varint).int64(IR_VERSION);
  text(model, 2, "millrace");
  message(model, 7, (graph) => writeGraph(graph, mlp));
  message(model, 8, (opset) => opset.tag(2, WireType.Varint).int64(ONNX_OPSET));
  return model.finish();
}

function assertLayersFit(layers: readonly DenseLayer[]): void {
  if (layers.length === 0) throw new RangeError("a network needs at least one layer");
  layers.forEach((layer, index) => {
    const previous = layers[index - 1];
    if (previous && previous.outputs !== layer.inputs)
      throw new RangeError(`layer ${index} takes ${layer.inputs} values and is given ${previous.outputs}`);
    if (layer.weights.length !== layer.inputs * layer.outputs || layer.bias.length !== layer.outputs)
      throw new RangeError(`layer ${index} is ${layer.inputs}×${layer.outputs}, its arrays are not`);
  });
}

function writeGraph(graph: BinaryWriter, { name, input, output, layers }: OnnxMlp): void {
  const last = layers.length - 1;
  layers.forEach((_, index) => {
    const from = index === 0 ? input : `hidden${index}`;
    const to = index === last ? output : `sum${index + 1}`;
    message(graph, 1, (node) => writeGemm(node, [from, `weights${index + 1}`, `bias${index + 1}`], to));
    if (index < last) message(graph, 1, (node) => writeNode(node, "Tanh", [to], `hidden${index + 1}`));
  });
  text(graph, 2, name);
  layers.forEach(({ inputs, outputs, weights, bias }, index) => {
    message(graph, 5, (tensor) => writeTensor(tensor, `weights${index + 1}`, [outputs, inputs], weights));
    message(graph, 5, (tensor) => writeTensor(tensor, `bias${index + 1}`, [outputs], bias));
  });
  message(graph, 11, (value) => writeBatchOf(value, input, layers[0]!.inputs));
  message(graph, 12, (value) => writeBatchOf(value, output, layers[last]!.outputs));
}

/** NodeProto. */
function writeNode(node: BinaryWriter, operator: string, inputs: readonly string[], output: string): void {
  for (const input of inputs) text(node, 1, input);
  text(node, 2, output);
  text(node, 4, operator);
}

function writeGemm(node: BinaryWriter, inputs: readonly string[], output: string): void {
  writeNode(node, "Gemm", inputs, output);
  message(node, 5, (attribute) => {
    text(attribute, 1, "transB");
    attribute.tag(3, WireType.Varint).int64(1);
    attribute.tag(20, WireType.Varint).int32(ATTRIBUTE_INT);
  });
}

/** TensorProto; raw data is little-endian whatever the machine is. */
function writeTensor(tensor: BinaryWriter, name: string, shape: readonly number[], values: Float32Array): void {
  for (const size of shape) tensor.tag(1, WireType.Varint).int64(size);
  tensor.tag(2, WireType.Varint).int32(FLOAT);
  text(tensor, 8, name);
  const raw = new DataView(new ArrayBuffer(values.length * 4));
  values.forEach((value, index) => raw.setFloat32(index * 4, value, true));
  tensor.tag(9, WireType.LengthDelimited).bytes(new Uint8Array(raw.buffer));
}

/** ValueInfoProto of a float32 [batch, width]. */
function writeBatchOf(value: BinaryWriter, name: string, width: number): void {
  text(value, 1, name);
  message(value, 2, (type) =>
    message(type, 1, (tensor) => {
      tensor.tag(1, WireType.Varint).int32(FLOAT);
      message(tensor, 2, (shape) => {
        message(shape, 1, (size) => text(size, 2, "batch"));
        message(shape, 1, (size) => size.tag(1, WireType.Varint).int64(width));
      });
    }),
  );
}

function text(writer: BinaryWriter, field: number, value: string): void {
  writer.tag(field, WireType.LengthDelimited).string(value);
}

function message(writer: BinaryWriter, field: number, write: (body: BinaryWriter) => void): void {
  writer.tag(field, WireType.LengthDelimited).fork();
  write(writer);
  writer.join();
}
