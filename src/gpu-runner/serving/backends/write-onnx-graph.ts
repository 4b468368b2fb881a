import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/** A float32 tensor that enters or leaves the graph; a free dimension is -1. */
export interface OnnxValue {
  readonly name: string;
  readonly shape: readonly number[];
}

/** A float32 tensor that stands in the file. */
export interface OnnxConstant extends OnnxValue {
  readonly values: Float32Array;
}

/** One operator; attributes are lists of whole numbers. */
export interface OnnxNode {
  readonly operator: string;
  readonly inputs: readonly string[];
  readonly output: string;
  readonly attributes?: Readonly<Record<string, readonly number[]>>;
}

export interface OnnxGraph {
  readonly name: string;
  readonly inputs: readonly OnnxValue[];
  readonly outputs: readonly OnnxValue[];
  readonly constants?: readonly OnnxConstant[];
  readonly nodes: readonly OnnxNode[];
}

const IR_VERSION = 8;
const OPSET = 17;
const FLOAT = 1;
const INTS = 7;

/** The bytes of an ONNX file with the graph and no more: for what tries a provider, or measures single operators. */
export function writeOnnxGraph(graph: OnnxGraph): Uint8Array<ArrayBuffer> {
  const model = new BinaryWriter();
  model.tag(1, WireType.Varint).int64(IR_VERSION);
  message(model, 7, (body) => {
    for (const node of graph.nodes) message(body, 1, (writer) => writeNode(writer, node));
    text(body, 2, graph.name);
    for (const constant of graph.constants ?? []) message(body, 5, (writer) => writeConstant(writer, constant));
    for (const value of graph.inputs) message(body, 11, (writer) => writeValue(writer, value));
    for (const value of graph.outputs) message(body, 12, (writer) => writeValue(writer, value));
  });
  message(model, 8, (opset) => opset.tag(2, WireType.Varint).int64(OPSET));
  return model.finish();
}

/** NodeProto. */
function writeNode(writer: BinaryWriter, { operator, inputs, output, attributes = {} }: OnnxNode): void {
  for (const input of inputs) text(writer, 1, input);
  text(writer, 2, output);
  text(writer, 4, operator);
  for (const [name, values] of Object.entries(attributes)) {
    message(writer, 5, (attribute) => {
      text(attribute, 1, name);
      for (const value of values) attribute.tag(8, WireType.Varint).int64(value);
      attribute.tag(20, WireType.Varint).int32(INTS);
    });
  }
}

/** TensorProto with raw little-endian data. */
function writeConstant(writer: BinaryWriter, { name, shape, values }: OnnxConstant): void {
  for (const size of shape) writer.tag(1, WireType.Varint).int64(size);
  writer.tag(2, WireType.Varint).int32(FLOAT);
  text(writer, 8, name);
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  writer.tag(9, WireType.LengthDelimited).bytes(bytes);
}

/** ValueInfoProto. */
function writeValue(writer: BinaryWriter, { name, shape }: OnnxValue): void {
  text(writer, 1, name);
  message(writer, 2, (type) =>
    message(type, 1, (tensor) => {
      tensor.tag(1, WireType.Varint).int32(FLOAT);
      message(tensor, 2, (dimensions) => {
        for (const size of shape) message(dimensions, 1, (dimension) => writeDimension(dimension, size));
      });
    }),
  );
}

/** All free dimensions of a graph have one name, so they are of one size. */
function writeDimension(writer: BinaryWriter, size: number): void {
  if (size === -1) text(writer, 2, "rows");
  else writer.tag(1, WireType.Varint).int64(size);
}

function text(writer: BinaryWriter, field: number, value: string): void {
  writer.tag(field, WireType.LengthDelimited).string(value);
}

function message(writer: BinaryWriter, field: number, write: (body: BinaryWriter) => void): void {
  writer.tag(field, WireType.LengthDelimited).fork();
  write(writer);
  writer.join();
}
