import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

const FLOAT = 1; // TensorProto.DataType.FLOAT

/**
 * How many float32 parameters an ONNX file holds: the sizes of its float initializers added up (integer ones
 * are shapes and axes, not weights). Field numbers are those of onnx.proto (onnx/onnx).
 *
 * @throws when the bytes are not a protobuf message.
 */
export function countOnnxParameters(model: Uint8Array): number {
  let total = 0;
  forEachMessage(model, 7, (graph) => forEachMessage(graph, 5, (tensor) => (total += countFloats(tensor))));
  return total;
}

function forEachMessage(parent: Uint8Array, field: number, visit: (child: Uint8Array) => void): void {
  const reader = new BinaryReader(parent);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (number === field && wireType === WireType.LengthDelimited) visit(reader.bytes());
    else reader.skip(wireType, number);
  }
}

function countFloats(tensor: Uint8Array): number {
  const reader = new BinaryReader(tensor);
  let size = 1;
  let dataType = 0;
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (number === 1) size *= readDimensions(reader, wireType);
    else if (number === 2) dataType = reader.int32();
    else reader.skip(wireType, number);
  }
  return dataType === FLOAT ? size : 0;
}

/** The product of one `dims` entry; protobuf lets a writer pack a repeated number or not. */
function readDimensions(reader: BinaryReader, wireType: WireType): number {
  if (wireType === WireType.Varint) return Number(reader.int64());
  const packed = new BinaryReader(reader.bytes());
  let product = 1;
  while (packed.pos < packed.len) product *= Number(packed.int64());
  return product;
}
