import { type BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { eachField, eachPacked } from "./each-field.ts";
import type { OnnxAttribute, OnnxTensor } from "./onnx-model.ts";
import { type Allowance, readTensor } from "./read-tensor.ts";

/** Field numbers and AttributeProto.AttributeType of onnx.proto3. */
const ATTRIBUTE = {
  name: 1,
  float: 2,
  int: 3,
  string: 4,
  tensor: 5,
  floats: 7,
  ints: 8,
  strings: 9,
  type: 20,
} as const;
const KINDS = new Map([
  [1, "float"],
  [2, "int"],
  [3, "string"],
  [4, "tensor"],
  [6, "floats"],
  [7, "ints"],
  [8, "strings"],
] as const);

/** Reads an AttributeProto: its name and what it says. */
export function readAttribute(message: Uint8Array, allowance?: Allowance): [string, OnnxAttribute] {
  let name = "";
  let type = 0;
  const found: { float?: number; int?: number; string?: string; tensor?: Uint8Array } = {};
  const [floats, ints, strings]: [number[], number[], string[]] = [[], [], []];
  eachField(message, (field, wire, reader) => {
    if (field === ATTRIBUTE.name && wire === WireType.LengthDelimited) name = reader.string();
    else if (field === ATTRIBUTE.type && wire === WireType.Varint) type = reader.int32();
    else if (field === ATTRIBUTE.float && wire === WireType.Bit32) found.float = reader.float();
    else if (field === ATTRIBUTE.int && wire === WireType.Varint) found.int = Number(reader.int64());
    else if (field === ATTRIBUTE.string && wire === WireType.LengthDelimited) found.string = reader.string();
    else if (field === ATTRIBUTE.tensor && wire === WireType.LengthDelimited) found.tensor = reader.bytes();
    else if (field === ATTRIBUTE.floats) eachPacked(reader, wire, (each: BinaryReader) => floats.push(each.float()));
    else if (field === ATTRIBUTE.ints) eachPacked(reader, wire, (each) => ints.push(Number(each.int64())));
    else if (field === ATTRIBUTE.strings && wire === WireType.LengthDelimited) strings.push(reader.string());
    else reader.skip(wire, field);
  });
  const { tensor: inner, ...single } = found;
  const tensor = inner && readTensor(inner, allowance);
  const value = valueOf(KINDS.get(type as 1), { ...single, tensor }, { floats, ints, strings });
  return [name, value ?? { kind: "other", message: new Uint8Array(message) }];
}

interface Single {
  readonly float?: number;
  readonly int?: number;
  readonly string?: string;
  readonly tensor: OnnxTensor | undefined;
}

function valueOf(
  kind: Exclude<OnnxAttribute["kind"], "other"> | undefined,
  { float = 0, int = 0, string = "", tensor }: Single,
  lists: { readonly floats: number[]; readonly ints: number[]; readonly strings: string[] },
): OnnxAttribute | null {
  switch (kind) {
    case "float":
      return { kind, value: float };
    case "int":
      return { kind, value: int };
    case "string":
      return { kind, value: string };
    case "tensor":
      return tensor === undefined ? null : { kind, value: tensor };
    case "floats":
      return { kind, value: lists.floats };
    case "ints":
      return { kind, value: lists.ints };
    case "strings":
      return { kind, value: lists.strings };
    case undefined:
      return null;
  }
}
