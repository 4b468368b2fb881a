import { LIMITS } from "../../protocol/limits.ts";
import { type HeaderResult, wrongHeader } from "./population-layout.ts";

const MAGIC = [0x93, ...new TextEncoder().encode("NUMPY")];
/** Magic, version and the length of the header: two bytes of it in version 1, four in 2 and 3. */
const PREFIX_BYTES = 12;
const FIELDS = {
  descr: /'descr':\s*'([^']*)'/,
  order: /'fortran_order':\s*(True|False)/,
  shape: /'shape':\s*\(([\d, ]*)\)/,
} as const;

/** Whether bytes begin like an npy file. */
export function isNpy(bytes: Uint8Array): boolean {
  return MAGIC.every((byte, index) => bytes[index] === byte);
}

/** Reads the header of an npy file (NumPy's NEP 1 and `numpy.lib.format`): float32, C order, members × parameters. */
export function readNpyHeader(bytes: Uint8Array): HeaderResult {
  if (bytes.length < PREFIX_BYTES) return { state: "short", wantedBytes: PREFIX_BYTES };
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const major = bytes[6]!;
  if (major < 1 || major > 3 || bytes[7] !== 0) return wrongHeader("is of a version of npy that is not known");
  const isShort = major === 1;
  const start = isShort ? 10 : 12;
  const length = isShort ? view.getUint16(8, true) : view.getUint32(8, true);
  if (length > LIMITS.populationHeaderBytes) {
    return wrongHeader(`has a header of more than ${LIMITS.populationHeaderBytes} bytes`);
  }
  if (bytes.length < start + length) return { state: "short", wantedBytes: start + length };
  return readFields(new TextDecoder().decode(bytes.subarray(start, start + length)), start + length);
}

function readFields(text: string, offsetBytes: number): HeaderResult {
  const [descr, order, shape] = [FIELDS.descr, FIELDS.order, FIELDS.shape].map((field) => field.exec(text));
  const rest = Object.values(FIELDS).reduce((left, field) => left.replace(field, ""), text);
  if (!descr || !order || !shape || !/^\{[\s,]*\}\s*$/.test(rest)) {
    return wrongHeader("has a header of npy that cannot be read");
  }
  if (descr[1] !== "<f4") return wrongHeader(`must hold little-endian float32, not ${descr[1]!.slice(0, 16)}`);
  if (order[1] !== "False") return wrongHeader("must be in C order, members first");
  const sizes = shape[1]!.split(",").filter((size) => size.trim() !== "");
  if (sizes.length !== 2) return wrongHeader("must have two axes, members and parameters");
  const [members, parameters] = sizes.map(Number) as [number, number];
  const sizeBytes = offsetBytes + 4 * members * parameters;
  const tensors = [{ width: parameters, offsetBytes }];
  return { state: "read", layout: { format: "npy", sizeBytes, members, parameters, tensors } };
}

/** An npy header for float32 rows, filled up so that they begin at a multiple of 64 bytes. */
export function writeNpyHeader(members: number, parameters: number): Uint8Array<ArrayBuffer> {
  const fields = `{'descr': '<f4', 'fortran_order': False, 'shape': (${members}, ${parameters}), }`;
  const length = Math.ceil((10 + fields.length + 1) / 64) * 64;
  const bytes = new Uint8Array(length).fill(0x20);
  bytes.set([...MAGIC, 1, 0]);
  new DataView(bytes.buffer).setUint16(8, length - 10, true);
  bytes.set(new TextEncoder().encode(fields), 10);
  bytes[length - 1] = 0x0a;
  return bytes;
}
