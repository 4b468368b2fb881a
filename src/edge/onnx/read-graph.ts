import { WireType } from "@bufbuild/protobuf/wire";
import { eachField } from "./each-field.ts";
import { type FileTensor, readTensor } from "./read-tensor.ts";

/** Field numbers of onnx.proto3 (`onnx/onnx.proto`). */
const MODEL = { graph: 7, opsetImport: 8 } as const;
const OPSET = { domain: 1, version: 2 } as const;
const GRAPH = { node: 1, initializer: 5 } as const;
const NODE = { input: 1, output: 2, operator: 4, attribute: 5, domain: 7 } as const;
const ATTRIBUTE = { name: 1, float: 2, integer: 3, tensor: 5 } as const;

/** One attribute of an operator, as far as dense networks have any. */
export interface Attribute {
  readonly float?: number;
  readonly integer?: number;
  readonly tensor?: FileTensor;
}

export interface GraphNode {
  readonly operator: string;
  readonly domain: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: ReadonlyMap<string, Attribute>;
}

/** What a graph computes, in the order of the file. */
export interface Graph {
  /** Version of ONNX's own operators. */
  readonly opset: number;
  readonly nodes: readonly GraphNode[];
  readonly initializers: ReadonlyMap<string, FileTensor>;
}

/** Reads the operators and weights of an ONNX file; throws where it is malformed or has more than `maxNodes` of either. */
export function readGraph(file: Uint8Array, maxNodes: number): Graph {
  let graph: Uint8Array = new Uint8Array();
  let opset = 0;
  eachField(file, (field, wire, reader) => {
    if (field === MODEL.graph && wire === WireType.LengthDelimited) graph = reader.bytes();
    else if (field === MODEL.opsetImport && wire === WireType.LengthDelimited) {
      const { domain, version } = readOpset(reader.bytes());
      if (isOnnx(domain)) opset = version;
    } else reader.skip(wire, field);
  });
  const nodes: GraphNode[] = [];
  const initializers = new Map<string, FileTensor>();
  eachField(graph, (field, wire, reader) => {
    if (field === GRAPH.node && wire === WireType.LengthDelimited) nodes.push(readNode(reader.bytes()));
    else if (field === GRAPH.initializer && wire === WireType.LengthDelimited) {
      const tensor = readTensor(reader.bytes());
      initializers.set(tensor.name, tensor);
    } else reader.skip(wire, field);
    if (nodes.length > maxNodes || initializers.size > maxNodes) throw new RangeError("the graph has too many nodes");
  });
  return { opset, nodes, initializers };
}

/** Whether a domain of operators is ONNX's own. */
export function isOnnx(domain: string): boolean {
  return domain === "" || domain === "ai.onnx";
}

function readOpset(message: Uint8Array): { domain: string; version: number } {
  let domain = "";
  let version = 0;
  eachField(message, (field, wire, reader) => {
    if (field === OPSET.domain && wire === WireType.LengthDelimited) domain = reader.string();
    else if (field === OPSET.version && wire === WireType.Varint) version = Number(reader.int64());
    else reader.skip(wire, field);
  });
  return { domain, version };
}

function readNode(message: Uint8Array): GraphNode {
  const node = { operator: "", domain: "", inputs: [] as string[], outputs: [] as string[] };
  const attributes = new Map<string, Attribute>();
  eachField(message, (field, wire, reader) => {
    if (wire !== WireType.LengthDelimited) return reader.skip(wire, field);
    if (field === NODE.input) node.inputs.push(reader.string());
    else if (field === NODE.output) node.outputs.push(reader.string());
    else if (field === NODE.operator) node.operator = reader.string();
    else if (field === NODE.domain) node.domain = reader.string();
    else if (field === NODE.attribute) attributes.set(...readAttribute(reader.bytes()));
    else reader.skip(wire, field);
  });
  return { ...node, attributes };
}

function readAttribute(message: Uint8Array): [string, Attribute] {
  let name = "";
  const attribute: { float?: number; integer?: number; tensor?: FileTensor } = {};
  eachField(message, (field, wire, reader) => {
    if (field === ATTRIBUTE.name && wire === WireType.LengthDelimited) name = reader.string();
    else if (field === ATTRIBUTE.float && wire === WireType.Bit32) attribute.float = reader.float();
    else if (field === ATTRIBUTE.integer && wire === WireType.Varint) attribute.integer = Number(reader.int64());
    else if (field === ATTRIBUTE.tensor && wire === WireType.LengthDelimited) {
      attribute.tensor = readTensor(reader.bytes());
    } else reader.skip(wire, field);
  });
  return [name, attribute];
}
