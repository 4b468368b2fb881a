import * as fc from "fast-check";

const TELLING_BYTES = [0x00, 0x01, 0x7f, 0x80, 0xff, 0x22, 0x5b, 0x5d, 0x7b, 0x7d, 0x2d, 0x65];
const TELLING_WORDS = [0, 1, 0x7f_ff_ff_ff, 0x80_00_00_00, 0xff_ff_ff_ff, 0x00_01_00_00, 0xff_ff];

const change = fc.oneof(
  fc.record({ kind: fc.constant("flip" as const), at: fc.nat(), value: fc.nat(7) }),
  fc.record({
    kind: fc.constant("set" as const),
    at: fc.nat(),
    value: fc.oneof(fc.constantFrom(...TELLING_BYTES), fc.nat(255)),
  }),
  fc.record({ kind: fc.constant("word" as const), at: fc.nat(), value: fc.constantFrom(...TELLING_WORDS) }),
  fc.record({ kind: fc.constant("cut" as const), at: fc.nat(), value: fc.nat(16) }),
  fc.record({ kind: fc.constant("end" as const), at: fc.nat(), value: fc.constant(0) }),
  fc.record({ kind: fc.constant("repeat" as const), at: fc.nat(), value: fc.nat(64) }),
);
type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never;

/** Bytes after one to six changes: flipped bits, other bytes, lying lengths, parts cut out or repeated, an early end. */
export function changedBytes(bytes: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array> {
  return fc
    .tuple(bytes, fc.array(change, { minLength: 1, maxLength: 6 }))
    .map(([original, changes]) => changes.reduce(changeOnce, original.slice()));
}

function changeOnce(bytes: Uint8Array, { kind, at: place, value }: Change): Uint8Array {
  const at = place % Math.max(1, bytes.length);
  switch (kind) {
    case "flip":
      if (bytes.length > 0) bytes[at] = bytes[at]! ^ (1 << value);
      return bytes;
    case "set":
      if (bytes.length > 0) bytes[at] = value;
      return bytes;
    case "word":
      if (bytes.length >= 4)
        new DataView(bytes.buffer, bytes.byteOffset).setUint32(Math.min(at, bytes.length - 4), value, true);
      return bytes;
    case "cut":
      return join(bytes.subarray(0, at), bytes.subarray(at + value));
    case "end":
      return bytes.slice(0, at);
    case "repeat":
      return join(bytes.subarray(0, at + value), bytes.subarray(at));
  }
}

function join(first: Uint8Array, second: Uint8Array): Uint8Array {
  const joined = new Uint8Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}
