import { BinaryReader, type WireType } from "@bufbuild/protobuf/wire";

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
