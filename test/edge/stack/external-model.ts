import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { ELEMENTS, type OnnxDtype, type OnnxNode } from "../../../src/onnx/onnx-model.ts";
import { writeMessage, writeNode, writeOpset, writeValue } from "../../../src/onnx/write-model.ts";

/** A tensor whose numbers lie in another file, as `external_data` says. */
export interface ExternalTensor {
  readonly name: string;
  readonly dtype?: OnnxDtype;
  readonly dims: readonly number[];
  readonly external: Readonly<Record<string, string>>;
}

type Writer = Parameters<typeof writeNode>[0];
/** The same class, of which the folders of this project see two declarations. */
const createWriter = () => new BinaryWriter() as unknown as Writer;

const node = (operator: string, inputs: string[], outputs: string[]): OnnxNode => ({
  name: "",
  domain: "",
  operator,
  inputs,
  outputs,
  attributes: new Map(),
});

/** An ONNX file: y [n, columns] = x [n, rows] · w, with weights in another file. */
export function writeExternalModel(
  tensors: readonly ExternalTensor[],
  nodes?: readonly OnnxNode[],
): Uint8Array<ArrayBuffer> {
  const [
    {
      dims: [rows = 1, columns = 1],
    },
  ] = tensors as [ExternalTensor];
  const writer = createWriter();
  writer.tag(1, WireType.Varint).int64(8);
  writeMessage(writer, 7, (graph) => {
    for (const each of nodes ?? [node("MatMul", ["x", "w"], ["y"])])
      writeMessage(graph, 1, (body) => writeNode(body, each));
    for (const tensor of tensors) writeMessage(graph, 5, (body) => writeTensor(body, tensor));
    writeMessage(graph, 11, (body) => writeValue(body, { name: "x", dtype: "float32", shape: ["n", rows] }));
    writeMessage(graph, 12, (body) => writeValue(body, { name: "y", dtype: "float32", shape: ["n", columns] }));
  });
  writeOpset(writer, "", 17);
  return writer.finish();
}

function writeTensor(writer: Writer, { name, dtype = "float32", dims, external }: ExternalTensor): void {
  for (const size of dims) writer.tag(1, WireType.Varint).int64(size);
  writer.tag(2, WireType.Varint).int32(ELEMENTS[dtype].code);
  writer.tag(8, WireType.LengthDelimited).string(name);
  for (const [key, value] of Object.entries(external)) {
    writeMessage(writer, 13, (entry) => {
      entry.tag(1, WireType.LengthDelimited).string(key);
      entry.tag(2, WireType.LengthDelimited).string(value);
    });
  }
  writer.tag(14, WireType.Varint).int32(1);
}
