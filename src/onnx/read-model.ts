import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { eachField, eachPacked, finishSteps, type Steps, UnreadableModel } from "./each-field.ts";
import {
  DTYPES,
  type OnnxDtype,
  type OnnxModel,
  type OnnxNode,
  type OnnxTensor,
  type OnnxValue,
  nameOperator,
  type SparseWeights,
} from "./onnx-model.ts";
import { readAttribute } from "./read-attribute.ts";
import { addSize, type Allowance, readTensor } from "./read-tensor.ts";

/** Field numbers of onnx.proto3 (onnx/onnx, `onnx/onnx.proto`). */
const MODEL = { irVersion: 1, graph: 7, opset: 8, functions: 25 } as const;
const OPSET = { domain: 1, version: 2 } as const;
const FUNCTION = { name: 1, domain: 10 } as const;
const GRAPH = { node: 1, name: 2, initializer: 5, input: 11, output: 12, sparse: 15 } as const;
const SPARSE = { values: 1, dims: 3 } as const;
const NODE = { input: 1, output: 2, name: 3, operator: 4, attribute: 5, domain: 7 } as const;
const VALUE = { name: 1, type: 2 } as const;
const TYPE = { tensor: 1, sequence: 4, map: 5, opaque: 7, sparse: 8, optional: 9 } as const;
/** Type of the elements of a sequence or an optional. */
const ELEMENT = 1;
const TENSOR_TYPE = { element: 1, shape: 2 } as const;
const SHAPE = { dimension: 1 } as const;
const DIMENSION = { value: 1, name: 2 } as const;

/** Nodes and weights of a graph; the largest networks that are exchanged have some ten thousand. */
const MAX_NODES = 100_000;
/**
 * Limit of weights stored as lists of numbers, which take up to eight times their size in memory; floats just as much.
 */
const MAX_COPIED_BYTES = 2 ** 25;

/**
 * Reads a whole ONNX file. Graphs inside nodes, and the bodies of functions, are left unread. Throws `UnreadableModel`
 * for two weights of one name and for unknown types, and another error where the bytes are no such message, or weights
 * lie in other files. Raw weights are views of the file.
 */
export function readModel(file: Uint8Array, maxNodes: number = MAX_NODES): OnnxModel {
  return finishSteps(readModelSteps(file, maxNodes));
}

/** The same in steps. */
export function readModelSteps(file: Uint8Array, maxNodes: number): Steps<OnnxModel> {
  return read(file, maxNodes, { bytes: MAX_COPIED_BYTES });
}

/** The same of an outline: large weights have a shape and no bytes. */
export function readOutline(outline: Uint8Array, maxNodes: number = MAX_NODES): OnnxModel {
  return finishSteps(readOutlineSteps(outline, maxNodes));
}

/** The same in steps. */
export function readOutlineSteps(outline: Uint8Array, maxNodes: number): Steps<OnnxModel> {
  return read(outline, maxNodes, { bytes: MAX_COPIED_BYTES, isOutline: true });
}

function* read(file: Uint8Array, maxNodes: number, allowance: Allowance): Steps<OnnxModel> {
  let irVersion = 0;
  let graph: Uint8Array | null = null;
  const domains = new Map<string, number>();
  const functions = new Set<string>();
  eachField(file, (field, wire, reader) => {
    if (field === MODEL.irVersion && wire === WireType.Varint) irVersion = Number(reader.int64());
    else if (wire !== WireType.LengthDelimited) reader.skip(wire, field);
    else if (field === MODEL.graph) graph = reader.bytes();
    else if (field === MODEL.opset) domains.set(...readOpset(reader.bytes()));
    else if (field === MODEL.functions) functions.add(readFunction(reader.bytes()));
    else reader.skip(wire, field);
  });
  if (graph === null || domains.size === 0) {
    throw new UnreadableModel(`the file is not an ONNX model: it has no ${graph === null ? "graph" : "opset"}`);
  }
  const opset = domains.get("") ?? 0;
  domains.delete("");
  const own = functions.size > 0 ? { functions } : {};
  return { irVersion, opset, domains, ...own, ...(yield* readGraph(graph, maxNodes, allowance)) };
}

function readFunction(message: Uint8Array): string {
  let [operator, domain] = ["", ""];
  eachField(message, (field, wire, reader) => {
    if (field === FUNCTION.name && wire === WireType.LengthDelimited) operator = reader.string();
    else if (field === FUNCTION.domain && wire === WireType.LengthDelimited) domain = ownDomain(reader.string());
    else reader.skip(wire, field);
  });
  return nameOperator({ operator, domain });
}

type Graph = Pick<OnnxModel, "name" | "nodes" | "weights" | "sparseWeights" | "inputs" | "outputs">;

/** Bytes of a graph that are read in a step, or one of its fields; raw weights are views, and take no time. */
const STEP_BYTES = 16_384;
const WEIGHT_BYTES = 256;

function* readGraph(message: Uint8Array, maxNodes: number, allowance: Allowance): Steps<Graph> {
  let name = "";
  const nodes: OnnxNode[] = [];
  const weights = new Map<string, OnnxTensor>();
  const sparseWeights = new Map<string, SparseWeights>();
  const inputs: OnnxValue[] = [];
  const outputs: OnnxValue[] = [];
  const reader = new BinaryReader(message);
  for (let stepBytes = 0; reader.pos < reader.len;) {
    const [start, allowed] = [reader.pos, allowance.bytes];
    const [field, wire] = reader.tag();
    if (wire !== WireType.LengthDelimited) reader.skip(wire, field);
    else if (field === GRAPH.node) nodes.push(readNode(reader.bytes(), allowance));
    else if (field === GRAPH.name) name = reader.string();
    else if (field === GRAPH.initializer) {
      const tensor = readTensor(reader.bytes(), allowance);
      if (weights.has(tensor.name)) throw new UnreadableModel(`the graph has the weights ${tensor.name} twice`);
      weights.set(tensor.name, tensor);
    } else if (field === GRAPH.input) inputs.push(readValue(reader.bytes()));
    else if (field === GRAPH.output) outputs.push(readValue(reader.bytes()));
    else if (field === GRAPH.sparse) {
      const tensor = readSparse(reader.bytes(), allowance);
      sparseWeights.set(tensor.name, tensor);
    } else reader.skip(wire, field);
    if (nodes.length > maxNodes || weights.size + sparseWeights.size > maxNodes) {
      throw new UnreadableModel(`the graph has more than ${maxNodes} nodes or weights`);
    }
    stepBytes += field === GRAPH.initializer ? WEIGHT_BYTES + allowed - allowance.bytes : reader.pos - start;
    if (stepBytes < STEP_BYTES) continue;
    stepBytes = 0;
    yield;
  }
  const isGiven = ({ name: input }: OnnxValue) => weights.has(input) || sparseWeights.has(input);
  const sparse = sparseWeights.size > 0 ? { sparseWeights } : {};
  return { name, nodes, weights, ...sparse, inputs: inputs.filter((each) => !isGiven(each)), outputs };
}

/** A SparseTensorProto: the tensor of its values has its name and element type. */
function readSparse(message: Uint8Array, allowance: Allowance): SparseWeights {
  let values: Uint8Array | null = null;
  const dims: number[] = [];
  eachField(message, (field, wire, reader) => {
    if (field === SPARSE.values && wire === WireType.LengthDelimited) values = reader.bytes();
    else if (field === SPARSE.dims) eachPacked(reader, wire, (each) => addSize(dims, each.int64()));
    else reader.skip(wire, field);
  });
  if (values === null) throw new UnreadableModel("the graph has sparse weights without values");
  const { name, dtype } = readTensor(values, allowance);
  return { name, dtype, dims };
}

function readOpset(message: Uint8Array): [string, number] {
  let domain = "";
  let version = 0;
  eachField(message, (field, wire, reader) => {
    if (field === OPSET.domain && wire === WireType.LengthDelimited) domain = ownDomain(reader.string());
    else if (field === OPSET.version && wire === WireType.Varint) version = Number(reader.int64());
    else reader.skip(wire, field);
  });
  return [domain, version];
}

/** ONNX's own operators have two names of one domain. */
function ownDomain(domain: string): string {
  return domain === "ai.onnx" ? "" : domain;
}

/** A NodeProto. */
export function readNode(message: Uint8Array, allowance?: Allowance): OnnxNode {
  const node = { name: "", operator: "", domain: "" };
  const [inputs, outputs]: [string[], string[]] = [[], []];
  const attributes = new Map<string, ReturnType<typeof readAttribute>[1]>();
  eachField(message, (field, wire, reader) => {
    if (wire !== WireType.LengthDelimited) return reader.skip(wire, field);
    if (field === NODE.input) inputs.push(reader.string());
    else if (field === NODE.output) outputs.push(reader.string());
    else if (field === NODE.name) node.name = reader.string();
    else if (field === NODE.operator) node.operator = reader.string();
    else if (field === NODE.domain) node.domain = ownDomain(reader.string());
    else if (field === NODE.attribute) attributes.set(...readAttribute(reader, allowance));
    else reader.skip(wire, field);
  });
  return { ...node, inputs, outputs, attributes };
}

/** A ValueInfoProto. */
export function readValue(message: Uint8Array): OnnxValue {
  let name = "";
  let type: Uint8Array | null = null;
  eachField(message, (field, wire, reader) => {
    if (wire !== WireType.LengthDelimited) return reader.skip(wire, field);
    if (field === VALUE.name) name = reader.string();
    else if (field === VALUE.type) type = reader.bytes();
    else reader.skip(wire, field);
  });
  if (type === null) throw new UnreadableModel(`${name} has no type`);
  return { name, ...readType(name, type) };
}

/** A TypeProto. */
function readType(name: string, type: Uint8Array): Omit<OnnxValue, "name"> {
  const tensor = submessage(type, TYPE.tensor);
  if (tensor !== null) return readTensorType(name, tensor);
  const sequence = submessage(type, TYPE.sequence);
  if (sequence !== null) {
    const inner = readElement(name, sequence);
    return { ...inner, container: inner.container === undefined ? "sequence" : "sequence of maps" };
  }
  const optional = submessage(type, TYPE.optional);
  if (optional !== null) return { ...readElement(name, optional), container: "optional" };
  const sparse = submessage(type, TYPE.sparse);
  if (sparse !== null) return { ...readTensorType(name, sparse), container: "sparse tensor" };
  if (submessage(type, TYPE.map) !== null) return { dtype: "float32", shape: [], container: "map" };
  if (submessage(type, TYPE.opaque) !== null) return { dtype: "float32", shape: [], container: "opaque" };
  throw new UnreadableModel(`${name} has a type that is not known`);
}

function readElement(name: string, message: Uint8Array): Omit<OnnxValue, "name"> {
  const inner = submessage(message, ELEMENT);
  if (inner === null) throw new UnreadableModel(`${name} is a list of no type`);
  return readType(name, inner);
}

function readTensorType(name: string, message: Uint8Array): Pick<OnnxValue, "dtype" | "shape"> {
  let dtype: OnnxDtype | undefined;
  const shape: (number | string)[] = [];
  eachField(message, (field, wire, reader) => {
    if (field === TENSOR_TYPE.element && wire === WireType.Varint) dtype = DTYPES.get(reader.int32());
    else if (field === TENSOR_TYPE.shape && wire === WireType.LengthDelimited) {
      eachField(reader.bytes(), (inner, innerWire, dimensions) => {
        if (inner === SHAPE.dimension && innerWire === WireType.LengthDelimited) {
          shape.push(readDimension(dimensions.bytes()));
        } else dimensions.skip(innerWire, inner);
      });
    } else reader.skip(wire, field);
  });
  if (dtype === undefined) throw new UnreadableModel(`${name} has an element type that is not supported`);
  return { dtype, shape };
}

function readDimension(message: Uint8Array): number | string {
  let size: number | string = "";
  eachField(message, (field, wire, reader) => {
    if (field === DIMENSION.value && wire === WireType.Varint) size = Number(reader.int64());
    else if (field === DIMENSION.name && wire === WireType.LengthDelimited) size = reader.string();
    else reader.skip(wire, field);
  });
  return typeof size === "string" || (Number.isSafeInteger(size) && size >= 0) ? size : "";
}

function submessage(message: Uint8Array, wanted: number): Uint8Array | null {
  let found: Uint8Array | null = null;
  eachField(message, (field, wire, reader) => {
    if (field === wanted && wire === WireType.LengthDelimited) found = reader.bytes();
    else reader.skip(wire, field);
  });
  return found;
}
