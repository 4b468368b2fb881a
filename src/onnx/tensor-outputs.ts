import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { eachField } from "./each-field.ts";
import type { OnnxModel, OnnxNode, OnnxValue } from "./onnx-model.ts";
import { readModel, readNode, readValue } from "./read-model.ts";
import { writeMessage, writeNode, writeOpset, writeValue } from "./write-model.ts";

/** Field numbers of onnx.proto3. */
const [GRAPH, NODE, OUTPUT] = [7, 1, 12];
/** Opset in which Identity and ConcatFromSequence are as they are used here, for files that use no other operator. */
const OPSET = 13;
const STACKED = "_stacked";

/** An output as a tensor; `labels` are the keys of the map that it replaces, by its last axis. */
export interface TensorOutput extends Omit<OnnxValue, "container"> {
  readonly labels?: readonly (string | number)[];
}

/**
 * Outputs of a network as tensors, the only values that ONNX Runtime returns to Node and that a reply can carry; null in
 * the place of one that cannot be one.
 * - Maps of `ai.onnx.ml.ZipMap`, with which scikit-learn's converters end, become the tensor that ZipMap labels.
 * - A sequence of tensors, which need equal shapes, becomes them stacked along a new first axis, as `<name>_stacked`.
 */
export function tensorOutputs({ nodes, outputs }: Pick<OnnxModel, "nodes" | "outputs">): (TensorOutput | null)[] {
  return outputs.map(({ container, ...value }) => {
    if (container === undefined) return value;
    if (container === "sequence") {
      // Without a shape the file says nothing of the rank.
      const shape = value.shape.length === 0 ? [] : ["", ...value.shape];
      return { ...value, name: `${value.name}${STACKED}`, shape };
    }
    const labels = labelsOf(nodes.find((node) => isZipMap(node) && node.outputs[0] === value.name));
    return labels && { name: value.name, dtype: "float32", shape: ["", labels.length], labels };
  });
}

/** A file with its outputs as `tensorOutputs` gives them; the file itself where they are tensors. */
export function withTensorOutputs(file: Uint8Array, model: OnnxModel = readModel(file)): Uint8Array {
  const found = tensorOutputs(model);
  const changed = new Map(
    model.outputs.flatMap((value, index) => {
      const as = found[index];
      return value.container === undefined || !as ? [] : [[value.name, as] as const];
    }),
  );
  if (changed.size === 0) return file;
  const sequences = model.outputs.filter(({ container }) => container === "sequence");
  const writer = new BinaryWriter();
  copyFields(file, writer, (field, graph) => {
    if (field !== GRAPH) return false;
    writeMessage(writer, GRAPH, (body) => {
      copyFields(graph, body, (inner, part) => replacePart(body, inner, part, changed));
      for (const { name } of sequences) writeMessage(body, NODE, (node) => writeNode(node, stack(name)));
    });
    return true;
  });
  if (model.opset === 0) writeOpset(writer, "", OPSET);
  return writer.finish();
}

function isZipMap({ domain, operator }: OnnxNode): boolean {
  return domain === "ai.onnx.ml" && operator === "ZipMap";
}

function labelsOf(node: OnnxNode | undefined): readonly (string | number)[] | null {
  const [texts, numbers] = ["classlabels_strings", "classlabels_int64s"].map((name) => node?.attributes.get(name));
  if (texts?.kind === "strings" && texts.value.length > 0) return texts.value;
  return numbers?.kind === "ints" && numbers.value.length > 0 ? numbers.value : null;
}

/** Writes a node or an output in its new form; false for one that stays. */
function replacePart(
  writer: BinaryWriter,
  field: number,
  part: Uint8Array,
  changed: ReadonlyMap<string, TensorOutput>,
): boolean {
  if (field === OUTPUT) {
    const output = changed.get(readValue(part).name);
    if (output === undefined) return false;
    writeMessage(writer, OUTPUT, (body) => writeValue(body, output));
    return true;
  }
  if (field !== NODE) return false;
  const node = readNode(part);
  if (!isZipMap(node) || !changed.has(node.outputs[0] ?? "")) return false;
  const identity = { ...node, operator: "Identity", domain: "", attributes: new Map() };
  writeMessage(writer, NODE, (body) => writeNode(body, identity));
  return true;
}

function stack(sequence: string): OnnxNode {
  const attributes = new Map([
    ["axis", { kind: "int", value: 0 }],
    ["new_axis", { kind: "int", value: 1 }],
  ] as const);
  const outputs = [`${sequence}${STACKED}`];
  return { name: "", operator: "ConcatFromSequence", domain: "", inputs: [sequence], outputs, attributes };
}

/** Copies the fields of a message as they are, but for messages inside that `replace` writes itself. */
function copyFields(
  message: Uint8Array,
  writer: BinaryWriter,
  replace: (field: number, part: Uint8Array) => boolean,
): void {
  let from = 0;
  eachField(message, (field, wire, reader) => {
    const body = reader.pos;
    reader.skip(wire, field);
    const [start, end] = [from, reader.pos];
    from = end;
    if (wire === WireType.LengthDelimited) {
      reader.pos = body;
      const part = reader.bytes();
      if (replace(field, part)) return;
    }
    writer.raw(message.subarray(start, end));
  });
}
