import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

/** Visits the numbers of a repeated field, which a writer may pack into one or not. */
export function eachPacked(reader: BinaryReader, wire: WireType, visit: (reader: BinaryReader) => void): void {
  if (wire !== WireType.LengthDelimited) return visit(reader);
  for (const packed = new BinaryReader(reader.bytes()); packed.pos < packed.len;) visit(packed);
}
