import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

/** Visits the numbers of a repeated field, which a writer may pack into one or not. */
export function eachPacked(reader: BinaryReader, wire: WireType, visit: (reader: BinaryReader) => void): void {
  if (wire !== WireType.LengthDelimited) return visit(reader);
  for (const packed = new BinaryReader(reader.bytes()); packed.pos < packed.len;) visit(packed);
}

/**
 * Work that rests after each step, of about a millisecond at most. A number is how many parts of a file the steps
 * behind it take into memory.
 */
export type Steps<Result> = Generator<number | undefined, Result>;

/** Does all steps at once. */
export function finishSteps<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** Why a file that is a protobuf message is no model that can be read here. */
export class UnreadableModel extends Error {
  override readonly name = "UnreadableModel";
}

/**
 * Visits the fields of the message that the reader has come to, as `eachField` does. One reader serves all: a reader of
 * each would take most of the time where messages are many.
 */
export function eachFieldHere(reader: BinaryReader, visit: (field: number, wire: WireType) => void): void {
  const length = reader.uint32();
  const end = reader.pos + length;
  while (reader.pos < end) visit(...reader.tag());
  if (reader.pos !== end || end > reader.len) throw new RangeError("a message ends outside of the one that holds it");
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
