import { LIMITS } from "../../../protocol/wire/limits.ts";
import { isWhole, parseSafetensors, type SafetensorsEntry } from "../../../protocol/wire/parse-safetensors.ts";

/** One tensor of a file: a fixed number of values for each member, at an offset from the file's start. */
interface MemberTensor {
  /** Values for each member. */
  readonly width: number;
  readonly offsetBytes: number;
}

/** Positions of all members' values in a file. */
export interface PopulationLayout {
  readonly format: "npy" | "safetensors";
  /** Size of the whole file. */
  readonly sizeBytes: number;
  readonly members: number;
  /** Parameters of one member. */
  readonly parameters: number;
  /** A single tensor holds whole rows; with several, each row is made of their parts in this order. */
  readonly tensors: readonly MemberTensor[];
}

/** Header of a file as far as its first bytes reveal it. */
export type HeaderResult =
  | { readonly state: "read"; readonly layout: PopulationLayout }
  | { readonly state: "wrong"; readonly message: string }
  /** The header can be read only from at least this many bytes. */
  | { readonly state: "short"; readonly wantedBytes: number };

/** Result for a malformed file. */
function wrongHeader(message: string): HeaderResult {
  return { state: "wrong", message };
}

const MAGIC = [0x93, ...new TextEncoder().encode("NUMPY")];
/** Magic, version and length of the header, which has two bytes in version 1 and four in 2 and 3. */
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

/**
 * Reads the header of an npy file: float32, C order, members × parameters.
 * Source: NumPy's NEP 1 and `numpy.lib.format`.
 */
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

/** An npy header for float32 rows, padded so that they begin at a multiple of 64 bytes. */
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

const FAULTS = {
  "too-long": `must be npy or safetensors with a header of at most ${LIMITS.populationHeaderBytes} bytes`,
  "no-safetensors": "must be npy or safetensors",
  "no-tensors": "has a header of safetensors that cannot be read",
} as const;

/**
 * Reads the header of a safetensors file, whose tensors must fill the rest of the file without gaps. One tensor of
 * members × parameters, or for each layer `layers.N.weight` [members, outputs, inputs] and `layers.N.bias` [members,
 * outputs].
 */
export function readSafetensorsHeader(bytes: Uint8Array): HeaderResult {
  const header = parseSafetensors(bytes, LIMITS.populationHeaderBytes);
  if (header.state === "short") return header;
  return header.state === "wrong" ? wrongHeader(FAULTS[header.fault]) : readTensors(header.tensors, header.startBytes);
}

function readTensors(entries: ReadonlyMap<string, SafetensorsEntry>, start: number): HeaderResult {
  const sizeBytes = start + Math.max(0, ...[...entries.values()].map(({ data_offsets }) => data_offsets[1]));
  const misplaced = [...entries].find(([, entry]) => !isSound(entry))?.[0] ?? (isWhole(entries) ? null : "the tensors");
  if (misplaced !== null) return wrongHeader(`must hold float32 end to end: ${misplaced.slice(0, 64)}`);
  const [only] = entries.values();
  if (entries.size === 1 && only?.shape.length === 2) {
    const [members, parameters] = only.shape as [number, number];
    const tensors = [{ width: parameters, offsetBytes: start + only.data_offsets[0] }];
    return { state: "read", layout: { format: "safetensors", sizeBytes, members, parameters, tensors } };
  }
  return readLayers(entries, start, sizeBytes);
}

/** Layers in order from 0, each fed by the one before. */
function readLayers(entries: ReadonlyMap<string, SafetensorsEntry>, start: number, sizeBytes: number): HeaderResult {
  const tensors: MemberTensor[] = [];
  let [members, width, parameters] = [0, 0, 0];
  for (let layer = 0; 2 * layer < entries.size; layer++) {
    const weight = entries.get(`layers.${layer}.weight`);
    const bias = entries.get(`layers.${layer}.bias`);
    const [count = 0, outputs = 0, inputs = 0] = weight?.shape ?? [];
    const fits =
      weight?.shape.length === 3 &&
      bias?.shape.join() === [count, outputs].join() &&
      (layer === 0 || (count === members && inputs === width));
    if (!fits) {
      return wrongHeader(
        `must have one tensor [members, parameters], or layers.${layer}.weight [members, outputs, inputs] and layers.${layer}.bias [members, outputs] that fit the layer before`,
      );
    }
    [members, width] = [count, outputs];
    parameters += outputs * (inputs + 1);
    tensors.push({ width: outputs * inputs, offsetBytes: start + weight.data_offsets[0] });
    tensors.push({ width: outputs, offsetBytes: start + bias.data_offsets[0] });
  }
  if (tensors.length === 0) return wrongHeader("must hold a tensor");
  return { state: "read", layout: { format: "safetensors", sizeBytes, members, parameters, tensors } };
}

function isSound({ dtype, shape, data_offsets: [from, to] }: SafetensorsEntry): boolean {
  return dtype === "F32" && to - from === 4 * shape.reduce((product, size) => product * size, 1);
}
