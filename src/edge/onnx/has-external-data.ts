import { WireType } from "@bufbuild/protobuf/wire";
import { eachField } from "./each-field.ts";

/** Messages of onnx.proto3 on the way to a tensor: which fields lead on, and to what. */
const CHILDREN = {
  model: { 7: "graph", 20: "training", 25: "function" },
  training: { 1: "graph", 2: "graph" },
  function: { 7: "node", 11: "attribute" },
  graph: { 1: "node", 5: "tensor", 15: "sparseTensor" },
  node: { 5: "attribute" },
  attribute: { 5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparseTensor", 23: "sparseTensor" },
  sparseTensor: { 1: "tensor", 2: "tensor" },
  tensor: {},
} as const satisfies Record<string, Record<number, string>>;
type Message = keyof typeof CHILDREN;

const TENSOR = { externalData: 13, dataLocation: 14 } as const;
/** Graphs inside of graphs (If, Loop, Scan); real networks nest a few. */
const MAX_DEPTH = 64;

/**
 * Whether any tensor of a model, however deep, keeps its bytes in another file: loading it would read
 * whatever file it names. Throws where the message is malformed or nested too deeply.
 */
export function hasExternalData(bytes: Uint8Array, message: Message = "model", depth = 0): boolean {
  if (depth > MAX_DEPTH) throw new RangeError("the model is nested too deeply");
  const children: Readonly<Record<number, Message>> = CHILDREN[message];
  let found = false;
  eachField(bytes, (field, wire, reader) => {
    const child = wire === WireType.LengthDelimited ? children[field] : undefined;
    if (child !== undefined) found = hasExternalData(reader.bytes(), child, depth + 1) || found;
    else if (message === "tensor" && field === TENSOR.externalData) {
      reader.skip(wire, field);
      found = true;
    } else if (message === "tensor" && field === TENSOR.dataLocation && wire === WireType.Varint) {
      found = reader.int32() !== 0 || found;
    } else reader.skip(wire, field);
  });
  return found;
}
