import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import {
  ELEMENTS,
  type OnnxAttribute,
  type OnnxModel,
  type OnnxNode,
  type OnnxTensor,
  type OnnxValue,
} from "./onnx-model.ts";

const PRODUCER = "millrace";
/** AttributeProto.AttributeType, and the field that holds such a value. */
const ATTRIBUTES = {
  float: { type: 1, field: 2 },
  int: { type: 2, field: 3 },
  string: { type: 3, field: 4 },
  tensor: { type: 4, field: 5 },
  floats: { type: 6, field: 7 },
  ints: { type: 7, field: 8 },
  strings: { type: 8, field: 9 },
} as const;

/**
 * The bytes of an ONNX file: the same network gives the same bytes. Field numbers are those of onnx.proto3. Throws a
 * RangeError where a tensor holds texts, and for parts that were not read: functions and sparse weights.
 */
export function writeModel(model: OnnxModel): Uint8Array<ArrayBuffer> {
  if (model.functions !== undefined || model.sparseWeights !== undefined) {
    throw new RangeError("the file has functions of its own or sparse weights, which are not kept");
  }
  const writer = new BinaryWriter();
  writer.tag(1, WireType.Varint).int64(model.irVersion);
  writeText(writer, 2, PRODUCER);
  writeMessage(writer, 7, (graph) => writeGraph(graph, model));
  if (model.opset > 0) writeOpset(writer, "", model.opset);
  for (const [domain, version] of model.domains) writeOpset(writer, domain, version);
  return writer.finish();
}

export function writeOpset(writer: BinaryWriter, domain: string, version: number): void {
  writeMessage(writer, 8, (opset) => {
    if (domain !== "") writeText(opset, 1, domain);
    opset.tag(2, WireType.Varint).int64(version);
  });
}

function writeGraph(writer: BinaryWriter, { name, nodes, weights, inputs, outputs }: OnnxModel): void {
  for (const node of nodes) writeMessage(writer, 1, (body) => writeNode(body, node));
  writeText(writer, 2, name);
  for (const tensor of weights.values()) writeMessage(writer, 5, (body) => writeTensor(body, tensor));
  for (const value of inputs) writeMessage(writer, 11, (body) => writeValue(body, value));
  for (const value of outputs) writeMessage(writer, 12, (body) => writeValue(body, value));
}

/** NodeProto. */
export function writeNode(
  writer: BinaryWriter,
  { name, operator, domain, inputs, outputs, attributes }: OnnxNode,
): void {
  for (const input of inputs) writeText(writer, 1, input);
  for (const output of outputs) writeText(writer, 2, output);
  if (name !== "") writeText(writer, 3, name);
  writeText(writer, 4, operator);
  for (const [key, attribute] of attributes) {
    if (attribute.kind === "other") writer.tag(5, WireType.LengthDelimited).bytes(attribute.message);
    else writeMessage(writer, 5, (body) => writeAttribute(body, key, attribute));
  }
  if (domain !== "") writeText(writer, 7, domain);
}

/** AttributeProto. */
function writeAttribute(
  writer: BinaryWriter,
  name: string,
  attribute: Exclude<OnnxAttribute, { readonly kind: "other" }>,
): void {
  const { type, field } = ATTRIBUTES[attribute.kind];
  writeText(writer, 1, name);
  if (attribute.kind === "float") writer.tag(field, WireType.Bit32).float(attribute.value);
  else if (attribute.kind === "int") writer.tag(field, WireType.Varint).int64(attribute.value);
  else if (attribute.kind === "string") writeText(writer, field, attribute.value);
  else if (attribute.kind === "tensor") writeMessage(writer, field, (body) => writeTensor(body, attribute.value));
  else if (attribute.kind === "floats")
    for (const each of attribute.value) writer.tag(field, WireType.Bit32).float(each);
  else if (attribute.kind === "ints")
    for (const each of attribute.value) writer.tag(field, WireType.Varint).int64(each);
  else for (const each of attribute.value) writeText(writer, field, each);
  writer.tag(20, WireType.Varint).int32(type);
}

/** TensorProto with raw little-endian data. */
function writeTensor(writer: BinaryWriter, { name, dtype, dims, bytes }: OnnxTensor): void {
  if (dtype === "string") throw new RangeError(`the tensor ${name} holds texts, which are not kept`);
  for (const size of dims) writer.tag(1, WireType.Varint).int64(size);
  writer.tag(2, WireType.Varint).int32(ELEMENTS[dtype].code);
  writeText(writer, 8, name);
  writer.tag(9, WireType.LengthDelimited).bytes(bytes);
}

/** ValueInfoProto. */
export function writeValue(writer: BinaryWriter, { name, dtype, shape }: OnnxValue): void {
  writeText(writer, 1, name);
  writeMessage(writer, 2, (type) =>
    writeMessage(type, 1, (tensor) => {
      tensor.tag(1, WireType.Varint).int32(ELEMENTS[dtype].code);
      writeMessage(tensor, 2, (dims) => {
        for (const size of shape) writeMessage(dims, 1, (dimension) => writeDimension(dimension, size));
      });
    }),
  );
}

function writeDimension(writer: BinaryWriter, size: number | string): void {
  if (typeof size === "number") writer.tag(1, WireType.Varint).int64(size);
  else if (size !== "") writeText(writer, 2, size);
}

function writeText(writer: BinaryWriter, field: number, value: string): void {
  writer.tag(field, WireType.LengthDelimited).string(value);
}

export function writeMessage(writer: BinaryWriter, field: number, write: (body: BinaryWriter) => void): void {
  writer.tag(field, WireType.LengthDelimited).fork();
  write(writer);
  writer.join();
}
