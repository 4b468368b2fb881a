import { WireType } from "@bufbuild/protobuf/wire";
import { LIMITS } from "../../protocol/limits.ts";
import type { TensorSpec } from "../../protocol/model.ts";
import type { DType } from "../../protocol/tensor.ts";
import { eachField } from "./each-field.ts";
import { hasExternalData } from "./has-external-data.ts";

/** Field numbers of onnx.proto3 (onnx/onnx, `onnx/onnx.proto`). */
const MODEL = { irVersion: 1, graph: 7, opsetImport: 8 } as const;
const GRAPH = { node: 1, initializer: 5, input: 11, output: 12 } as const;
const TENSOR = { name: 8 } as const;
const VALUE_INFO = { name: 1, type: 2 } as const;
const TYPE = { tensor: 1 } as const;
const TENSOR_TYPE = { elementType: 1, shape: 2 } as const;
const SHAPE = { dimension: 1 } as const;
const DIMENSION = { value: 1 } as const;

/** TensorProto.DataType of the types that the wire carries. */
const DTYPES: ReadonlyMap<number, DType> = new Map([
  [1, "float32"],
  [2, "uint8"],
  [3, "int8"],
  [4, "uint16"],
  [5, "int16"],
  [6, "int32"],
  [7, "int64"],
  [8, "string"],
  [9, "bool"],
  [10, "float16"],
  [11, "float64"],
  [12, "uint32"],
  [13, "uint64"],
]);

const MAX_NODES = 100_000;

export type SignatureResult =
  | { ok: true; inputs: TensorSpec[]; outputs: TensorSpec[] }
  | { ok: false; message: string };

/**
 * Reads what a network takes and gives from an ONNX file, without running it. Refuses what is not
 * ONNX, keeps weights outside of the file, or uses types that cannot cross the wire.
 */
export function readSignature(file: Uint8Array): SignatureResult {
  try {
    return readModel(file);
  } catch (error) {
    return { ok: false, message: error instanceof InvalidSignature ? error.message : "the file is not an ONNX model" };
  }
}

class InvalidSignature extends Error {}

function readModel(file: Uint8Array): SignatureResult {
  let graph: Uint8Array | null = null;
  let opsets = 0;
  eachField(file, (field, wire, reader) => {
    if (field === MODEL.graph && wire === WireType.LengthDelimited) graph = reader.bytes();
    else if (field === MODEL.opsetImport && wire === WireType.LengthDelimited) {
      reader.bytes();
      opsets++;
    } else reader.skip(wire, field);
  });
  if (graph === null || opsets === 0)
    throw new InvalidSignature("the file is not an ONNX model: it has no graph or no opset");
  const { inputs, outputs } = readGraph(graph);
  if (hasExternalData(file)) throw new InvalidSignature("weights outside of the file are not taken");
  if (inputs.length === 0) throw new InvalidSignature("the graph has no inputs");
  if (outputs.length === 0) throw new InvalidSignature("the graph has no outputs");
  for (const specs of [inputs, outputs]) checkLimits(specs);
  return { ok: true, inputs, outputs };
}

/** What no request could name or carry is refused when it comes. */
function checkLimits(specs: readonly TensorSpec[]): void {
  if (specs.length > LIMITS.tensorsPerRequest) {
    throw new InvalidSignature(`the graph has more than ${LIMITS.tensorsPerRequest} inputs or outputs`);
  }
  for (const { name, shape } of specs) {
    if (name === "" || name.length > LIMITS.tensorNameLength) {
      throw new InvalidSignature(
        `an input or output has a name that is not 1 to ${LIMITS.tensorNameLength} characters long`,
      );
    }
    if (shape.length > LIMITS.tensorRank)
      throw new InvalidSignature(`${name} has more than ${LIMITS.tensorRank} dimensions`);
  }
}

function readGraph(graph: Uint8Array): { inputs: TensorSpec[]; outputs: TensorSpec[] } {
  const inputs: TensorSpec[] = [];
  const outputs: TensorSpec[] = [];
  const initializers = new Set<string>();
  let nodes = 0;
  eachField(graph, (field, wire, reader) => {
    if (wire !== WireType.LengthDelimited) return reader.skip(wire, field);
    if (field === GRAPH.input) inputs.push(readValueInfo(reader.bytes()));
    else if (field === GRAPH.output) outputs.push(readValueInfo(reader.bytes()));
    else if (field === GRAPH.initializer) initializers.add(readInitializerName(reader.bytes()));
    else {
      if (field === GRAPH.node && ++nodes > MAX_NODES)
        throw new InvalidSignature(`the graph has more than ${MAX_NODES} nodes`);
      reader.skip(wire, field);
    }
  });
  // Old files list weights among the inputs, too.
  return { inputs: inputs.filter(({ name }) => !initializers.has(name)), outputs };
}

function readInitializerName(tensor: Uint8Array): string {
  let name = "";
  eachField(tensor, (field, wire, reader) => {
    if (field === TENSOR.name && wire === WireType.LengthDelimited) name = reader.string();
    else reader.skip(wire, field);
  });
  return name;
}

function readValueInfo(info: Uint8Array): TensorSpec {
  let name = "";
  let type: Uint8Array | null = null;
  eachField(info, (field, wire, reader) => {
    if (field === VALUE_INFO.name && wire === WireType.LengthDelimited) name = reader.string();
    else if (field === VALUE_INFO.type && wire === WireType.LengthDelimited) type = reader.bytes();
    else reader.skip(wire, field);
  });
  const tensorType = type === null ? null : submessage(type, TYPE.tensor);
  if (tensorType === null) throw new InvalidSignature(`${name} is not a tensor`);
  return { name, ...readTensorType(name, tensorType) };
}

function readTensorType(name: string, tensorType: Uint8Array): Pick<TensorSpec, "dtype" | "shape"> {
  let dtype: DType | undefined;
  const shape: number[] = [];
  eachField(tensorType, (field, wire, reader) => {
    if (field === TENSOR_TYPE.elementType && wire === WireType.Varint) dtype = DTYPES.get(reader.int32());
    else if (field === TENSOR_TYPE.shape && wire === WireType.LengthDelimited) {
      eachField(reader.bytes(), (inner, innerWire, dimensions) => {
        if (inner === SHAPE.dimension && innerWire === WireType.LengthDelimited)
          shape.push(readDimension(dimensions.bytes()));
        else dimensions.skip(innerWire, inner);
      });
    } else reader.skip(wire, field);
  });
  if (dtype === undefined) throw new InvalidSignature(`${name} has an element type that is not supported`);
  return { dtype, shape };
}

/** A fixed size, or -1 where the file names or leaves out the dimension. */
function readDimension(dimension: Uint8Array): number {
  let size = -1;
  eachField(dimension, (field, wire, reader) => {
    if (field === DIMENSION.value && wire === WireType.Varint) size = Number(reader.int64());
    else reader.skip(wire, field);
  });
  return size >= 0 && Number.isSafeInteger(size) ? size : -1;
}

function submessage(message: Uint8Array, wanted: number): Uint8Array | null {
  let found: Uint8Array | null = null;
  eachField(message, (field, wire, reader) => {
    if (field === wanted && wire === WireType.LengthDelimited) found = reader.bytes();
    else reader.skip(wire, field);
  });
  return found;
}
