import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/** A float32 tensor that enters or leaves the graph. */
export interface OnnxValue {
  readonly name: string;
  readonly shape: readonly number[];
}

/** One operator without attributes. */
export interface OnnxNode {
  readonly operator: string;
  readonly inputs: readonly string[];
  readonly output: string;
}

export interface OnnxGraph {
  readonly name: string;
  readonly inputs: readonly OnnxValue[];
  readonly outputs: readonly OnnxValue[];
  readonly nodes: readonly OnnxNode[];
}

const IR_VERSION = 8;
const OPSET = 17;
const FLOAT = 1;

/** The bytes of an ONNX file with the graph: the peers that run ONNX get the operator that is measured, and no more. */
export function writeOnnxGraph(graph: OnnxGraph): Uint8Array<ArrayBuffer> {
  const model = new BinaryWriter();
  model.tag(1, WireType.Varint).int64(IR_VERSION);
  message(model, 7, (body) => {
    for (const node of graph.nodes) message(body, 1, (writer) => writeNode(writer, node));
    text(body, 2, graph.name);
    for (const value of graph.inputs) message(body, 11, (writer) => writeValue(writer, value));
    for (const value of graph.outputs) message(body, 12, (writer) => writeValue(writer, value));
  });
  message(model, 8, (opset) => opset.tag(2, WireType.Varint).int64(OPSET));
  return model.finish();
}

/** NodeProto. */
function writeNode(writer: BinaryWriter, { operator, inputs, output }: OnnxNode): void {
  for (const input of inputs) text(writer, 1, input);
  text(writer, 2, output);
  text(writer, 4, operator);
}

/** ValueInfoProto. */
function writeValue(writer: BinaryWriter, { name, shape }: OnnxValue): void {
  text(writer, 1, name);
  message(writer, 2, (type) =>
    message(type, 1, (tensor) => {
      tensor.tag(1, WireType.Varint).int32(FLOAT);
      message(tensor, 2, (dimensions) => {
        for (const size of shape) message(dimensions, 1, (dimension) => dimension.tag(1, WireType.Varint).int64(size));
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
