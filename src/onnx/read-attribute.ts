import { type BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { eachFieldHere, eachPacked } from "./each-field.ts";
import type { OnnxAttribute } from "./onnx-model.ts";
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

/** Reads an AttributeProto, to which the reader has come: its name and what it says. */
export function readAttribute(reader: BinaryReader, allowance?: Allowance): [string, OnnxAttribute] {
  let name = "";
  let type = 0;
  const found: Found = {};
  const start = reader.pos;
  eachFieldHere(reader, (field, wire) => {
    if (field === ATTRIBUTE.name && wire === WireType.LengthDelimited) name = reader.string();
    else if (field === ATTRIBUTE.type && wire === WireType.Varint) type = reader.int32();
    else if (field === ATTRIBUTE.float && wire === WireType.Bit32) found.float = reader.float();
    else if (field === ATTRIBUTE.int && wire === WireType.Varint) found.int = Number(reader.int64());
    else if (field === ATTRIBUTE.string && wire === WireType.LengthDelimited) found.string = reader.string();
    else if (field === ATTRIBUTE.tensor && wire === WireType.LengthDelimited) found.tensor = reader.bytes();
    else if (field === ATTRIBUTE.floats) {
      const floats = (found.floats ??= []);
      eachPacked(reader, wire, (each) => floats.push(each.float()));
    } else if (field === ATTRIBUTE.ints) {
      const ints = (found.ints ??= []);
      eachPacked(reader, wire, (each) => ints.push(Number(each.int64())));
    } else if (field === ATTRIBUTE.strings && wire === WireType.LengthDelimited) {
      (found.strings ??= []).push(reader.string());
    } else reader.skip(wire, field);
  });
  const value = valueOf(KINDS.get(type as 1), found, allowance);
  return [name, value ?? { kind: "other", message: messageBefore(reader, start) }];
}

/** A copy of the message that the reader has read from `start` on, where its length stands. */
function messageBefore(reader: BinaryReader, start: number): Uint8Array {
  const end = reader.pos;
  reader.pos = start;
  const message = new Uint8Array(reader.bytes());
  reader.pos = end;
  return message;
}

/** Fields of an attribute. */
interface Found {
  float?: number;
  int?: number;
  string?: string;
  tensor?: Uint8Array;
  floats?: number[];
  ints?: number[];
  strings?: string[];
}

function valueOf(
  kind: Exclude<OnnxAttribute["kind"], "other"> | undefined,
  { float = 0, int = 0, string = "", tensor, floats = [], ints = [], strings = [] }: Found,
  allowance?: Allowance,
): OnnxAttribute | null {
  const inner = tensor && readTensor(tensor, allowance);
  switch (kind) {
    case "float":
      return { kind, value: float };
    case "int":
      return { kind, value: int };
    case "string":
      return { kind, value: string };
    case "tensor":
      return inner === undefined ? null : { kind, value: inner };
    case "floats":
      return { kind, value: floats };
    case "ints":
      return { kind, value: ints };
    case "strings":
      return { kind, value: strings };
    case undefined:
      return null;
  }
}
