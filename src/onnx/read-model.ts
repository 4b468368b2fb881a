import { WireType } from "@bufbuild/protobuf/wire";
import { eachField, UnreadableModel } from "./each-field.ts";
import {
  ELEMENTS,
  type OnnxDtype,
  type OnnxModel,
  type OnnxNode,
  type OnnxTensor,
  type OnnxValue,
} from "./onnx-model.ts";
import { readAttribute } from "./read-attribute.ts";
import { type Allowance, readTensor } from "./read-tensor.ts";

/** Field numbers of onnx.proto3 (onnx/onnx, `onnx/onnx.proto`). */
const MODEL = { irVersion: 1, graph: 7, opset: 8, functions: 25 } as const;
const OPSET = { domain: 1, version: 2 } as const;
const GRAPH = { node: 1, name: 2, initializer: 5, input: 11, output: 12, sparse: 15 } as const;
const NODE = { input: 1, output: 2, name: 3, operator: 4, attribute: 5, domain: 7 } as const;
const VALUE = { name: 1, type: 2 } as const;
const TYPE = { tensor: 1 } as const;
const TENSOR_TYPE = { element: 1, shape: 2 } as const;
const SHAPE = { dimension: 1 } as const;
const DIMENSION = { value: 1, name: 2 } as const;

const DTYPES: ReadonlyMap<number, OnnxDtype> = new Map(
  Object.entries(ELEMENTS).map(([dtype, { code }]) => [code, dtype as OnnxDtype]),
);
/** Nodes and weights of a graph; the largest networks that are exchanged have some ten thousand. */
const MAX_NODES = 100_000;
/**
 * Limit of weights stored as lists of numbers, which take up to eight times their size in memory; floats just as much.
 */
const MAX_COPIED_BYTES = 2 ** 25;

/**
 * Reads a whole ONNX file. Graphs inside nodes are kept unread. Throws `UnreadableModel` for what millrace does not
 * accept (functions, sparse weights, duplicate weight names, values that are not tensors), and another error where the
 * bytes are no such message, or weights lie in other files. Raw weights are views of the file.
 */
export function readModel(file: Uint8Array, maxNodes: number = MAX_NODES): OnnxModel {
  let irVersion = 0;
  let graph: Uint8Array | null = null;
  const domains = new Map<string, number>();
  eachField(file, (field, wire, reader) => {
    if (field === MODEL.irVersion && wire === WireType.Varint) irVersion = Number(reader.int64());
    else if (wire !== WireType.LengthDelimited) reader.skip(wire, field);
    else if (field === MODEL.graph) graph = reader.bytes();
    else if (field === MODEL.opset) domains.set(...readOpset(reader.bytes()));
    else if (field === MODEL.functions) throw new UnreadableModel("the file has functions of its own");
    else reader.skip(wire, field);
  });
  const opset = domains.get("");
  if (graph === null || opset === undefined)
    throw new UnreadableModel("the file is not an ONNX model: it has no graph or no opset");
  domains.delete("");
  return { irVersion, opset, domains, ...readGraph(graph, maxNodes) };
}

type Graph = Pick<OnnxModel, "name" | "nodes" | "weights" | "inputs" | "outputs">;

function readGraph(message: Uint8Array, maxNodes: number): Graph {
  let name = "";
  const nodes: OnnxNode[] = [];
  const weights = new Map<string, OnnxTensor>();
  const inputs: OnnxValue[] = [];
  const outputs: OnnxValue[] = [];
  const allowance = { bytes: MAX_COPIED_BYTES };
  eachField(message, (field, wire, reader) => {
    if (wire !== WireType.LengthDelimited) return reader.skip(wire, field);
    if (field === GRAPH.node) nodes.push(readNode(reader.bytes(), allowance));
    else if (field === GRAPH.name) name = reader.string();
    else if (field === GRAPH.initializer) {
      const tensor = readTensor(reader.bytes(), allowance);
      if (weights.has(tensor.name)) throw new UnreadableModel(`the graph has the weights ${tensor.name} twice`);
      weights.set(tensor.name, tensor);
    } else if (field === GRAPH.input) inputs.push(readValue(reader.bytes()));
    else if (field === GRAPH.output) outputs.push(readValue(reader.bytes()));
    else if (field === GRAPH.sparse) throw new UnreadableModel("the graph has sparse weights");
    else reader.skip(wire, field);
    if (nodes.length > maxNodes || weights.size > maxNodes) {
      throw new UnreadableModel(`the graph has more than ${maxNodes} nodes or weights`);
    }
  });
  return { name, nodes, weights, inputs: inputs.filter((each) => !weights.has(each.name)), outputs };
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

function readNode(message: Uint8Array, allowance: Allowance): OnnxNode {
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
    else if (field === NODE.attribute) attributes.set(...readAttribute(reader.bytes(), allowance));
    else reader.skip(wire, field);
  });
  return { ...node, inputs, outputs, attributes };
}

function readValue(message: Uint8Array): OnnxValue {
  let name = "";
  let tensor: Uint8Array | null = null;
  eachField(message, (field, wire, reader) => {
    if (wire !== WireType.LengthDelimited) return reader.skip(wire, field);
    if (field === VALUE.name) name = reader.string();
    else if (field === VALUE.type) tensor = submessage(reader.bytes(), TYPE.tensor);
    else reader.skip(wire, field);
  });
  if (tensor === null) throw new UnreadableModel(`${name} is not a tensor`);
  return { name, ...readTensorType(name, tensor) };
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
