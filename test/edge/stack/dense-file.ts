import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/** A tensor in the file: floats, or the whole numbers of a shape. */
export interface FileTensor {
  readonly dims: readonly number[];
  readonly floats?: readonly number[];
  readonly integers?: readonly number[];
}

/** An attribute of an operator: a number by its kind, or a tensor. */
export type FileAttribute = { readonly float: number } | { readonly integer: number } | { readonly tensor: FileTensor };

export interface FileNode {
  readonly operator: string;
  readonly inputs: readonly string[];
  readonly output: string;
  readonly attributes?: Readonly<Record<string, FileAttribute>>;
  readonly domain?: string;
}

export interface DenseFile {
  /** Shape of the input `x`; -1 is free. */
  readonly input: readonly number[];
  /** Shape of the output `y`; -1 is free. */
  readonly output: readonly number[];
  readonly nodes: readonly FileNode[];
  readonly tensors?: Readonly<Record<string, FileTensor>>;
  readonly opset?: number;
}

const FLOAT = 1;
const INT64 = 7;
const ATTRIBUTE_FLOAT = 1;
const ATTRIBUTE_INT = 2;
const ATTRIBUTE_TENSOR = 4;

/** An ONNX file with the input `x` and the output `y` of float32. */
export function writeDenseFile({ input, output, nodes, tensors = {}, opset = 17 }: DenseFile): Uint8Array<ArrayBuffer> {
  const model = new BinaryWriter().tag(1, WireType.Varint).int64(8);
  message(model, 7, (graph) => {
    for (const node of nodes) message(graph, 1, (writer) => writeNode(writer, node));
    text(graph, 2, "dense");
    for (const [name, tensor] of Object.entries(tensors)) {
      message(graph, 5, (writer) => writeTensor(writer, name, tensor));
    }
    message(graph, 11, (value) => writeValue(value, "x", input));
    message(graph, 12, (value) => writeValue(value, "y", output));
  });
  message(model, 8, (writer) => writer.tag(2, WireType.Varint).int64(opset));
  return model.finish();
}

function writeNode(writer: BinaryWriter, { operator, inputs, output, attributes = {}, domain }: FileNode): void {
  for (const name of inputs) text(writer, 1, name);
  text(writer, 2, output);
  text(writer, 4, operator);
  for (const [name, attribute] of Object.entries(attributes)) {
    message(writer, 5, (body) => {
      text(body, 1, name);
      if ("float" in attribute) body.tag(2, WireType.Bit32).float(attribute.float);
      else if ("integer" in attribute) body.tag(3, WireType.Varint).int64(attribute.integer);
      else message(body, 5, (tensor) => writeTensor(tensor, "", attribute.tensor));
      const kind = "float" in attribute ? ATTRIBUTE_FLOAT : "integer" in attribute ? ATTRIBUTE_INT : ATTRIBUTE_TENSOR;
      body.tag(20, WireType.Varint).int32(kind);
    });
  }
  if (domain !== undefined) text(writer, 7, domain);
}

function writeTensor(writer: BinaryWriter, name: string, { dims, floats, integers = [] }: FileTensor): void {
  for (const size of dims) writer.tag(1, WireType.Varint).int64(size);
  writer.tag(2, WireType.Varint).int32(floats === undefined ? INT64 : FLOAT);
  text(writer, 8, name);
  const values = floats === undefined ? BigInt64Array.from(integers, BigInt) : Float32Array.from(floats);
  writer.tag(9, WireType.LengthDelimited).bytes(new Uint8Array(values.buffer));
}

function writeValue(writer: BinaryWriter, name: string, shape: readonly number[]): void {
  text(writer, 1, name);
  message(writer, 2, (type) =>
    message(type, 1, (tensor) => {
      tensor.tag(1, WireType.Varint).int32(FLOAT);
      message(tensor, 2, (dimensions) => {
        shape.forEach((size, axis) =>
          message(dimensions, 1, (dimension) => {
            if (size === -1) text(dimension, 2, `free${axis}`);
            else dimension.tag(1, WireType.Varint).int64(size);
          }),
        );
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
