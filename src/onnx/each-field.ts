import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

/** Visits the numbers of a repeated field, which a writer may pack into one or not. */
export function eachPacked(reader: BinaryReader, wire: WireType, visit: (reader: BinaryReader) => void): void {
  if (wire !== WireType.LengthDelimited) return visit(reader);
  for (const packed = new BinaryReader(reader.bytes()); packed.pos < packed.len;) visit(packed);
}

/** Why a file that is a protobuf message is no model that can be read here. */
export class UnreadableModel extends Error {
  override readonly name = "UnreadableModel";
}

/** Visits the fields of a protobuf message in order; the visitor reads or skips each. Throws where it is malformed. */
export function eachField(
  message: Uint8Array,
  visit: (field: number, wire: WireType, reader: BinaryReader) => void,
): void {
  const reader = new BinaryReader(message);
  while (reader.pos < reader.len) {
    const [field, wire] = reader.tag();
    visit(field, wire, reader);
  }
}
