import { LIMITS } from "../wire/limits.ts";
import { isWhole, parseSafetensors, type SafetensorsEntry } from "../wire/parse-safetensors.ts";
import { countElements } from "../wire/tensor.ts";

/** Numbers row by row; the first dimension counts samples. */
export interface HeldOutTensor {
  readonly shape: readonly number[];
  readonly values: Float32Array<ArrayBuffer>;
}

/** Samples that a network was not trained on, with their answers, as models/README.md defines the file. */
export interface HeldOut {
  /** Metric of the answers. */
  readonly metric: string;
  /** Samples: at least one. */
  readonly rows: number;
  /** Inputs by name; at least one. */
  readonly inputs: ReadonlyMap<string, HeldOutTensor>;
  readonly target: HeldOutTensor;
  /** Answer that ignores the inputs: one for all samples, or one for each. */
  readonly baseline: HeldOutTensor;
}

const INPUT_PREFIX = "input.";
const ELEMENTS: Readonly<Record<string, { readonly bytes: number; readonly read: ReadElement }>> = {
  F32: { bytes: 4, read: (view, at) => view.getFloat32(at, true) },
  F16: { bytes: 2, read: (view, at) => view.getFloat16(at, true) },
  I32: { bytes: 4, read: (view, at) => view.getInt32(at, true) },
  I16: { bytes: 2, read: (view, at) => view.getInt16(at, true) },
  I8: { bytes: 1, read: (view, at) => view.getInt8(at) },
  U8: { bytes: 1, read: (view, at) => view.getUint8(at) },
};
type ReadElement = (view: DataView, at: number) => number;

/**
 * Reads a held-out part. Numbers are value · scale + offset of the stored ones, in doubles, rounded once to float32.
 * Throws a RangeError that names the tensor and its fault.
 */
export function readHeldOut(file: Uint8Array): HeldOut {
  if (file.length > LIMITS.heldOutBytes)
    throw new RangeError(`the file has ${file.length} bytes, and may have ${LIMITS.heldOutBytes}`);
  const header = parseSafetensors(file, LIMITS.heldOutHeaderBytes);
  if (header.state !== "read") throw new RangeError("the file is no safetensors, or its header is too long");
  const { metadata, tensors: entries, startBytes } = header;
  const metric = metadata.get("metric");
  if (metric === undefined) throw new RangeError("the metadata do not name the metric");
  const sizeBytes = startBytes + Math.max(0, ...[...entries.values()].map((entry) => entry.data_offsets[1]));
  if (!isWhole(entries) || sizeBytes !== file.length) throw new RangeError("the tensors do not lie end to end");
  const tensors = new Map([...entries].map(([name, entry]) => [name, readTensor(name, entry, header, file)] as const));
  const inputs = [...tensors].filter(([name]) => name.startsWith(INPUT_PREFIX));
  if (inputs.length === 0) throw new RangeError(`there is no tensor ${INPUT_PREFIX}<name>`);
  const [target, baseline] = [requireTensor(tensors, "target"), requireTensor(tensors, "baseline")];
  if (tensors.size > inputs.length + 2) {
    const other = [...tensors.keys()].find((name) => !isKnown(name))!;
    throw new RangeError(`the tensor ${quote(other)} is neither an input nor the target nor the baseline`);
  }
  const rows = target.shape[0]!;
  if (rows < 1 || rows > LIMITS.heldOutRows)
    throw new RangeError(`the tensor "target" has ${rows} rows, and may have 1 to ${LIMITS.heldOutRows}`);
  for (const [name, { shape }] of tensors) {
    if (shape[0] === rows || (name === "baseline" && shape[0] === 1)) continue;
    throw new RangeError(`the tensor ${quote(name)} has ${shape[0]} rows, and the target ${rows}`);
  }
  const byInput = new Map(inputs.map(([name, tensor]) => [name.slice(INPUT_PREFIX.length), tensor]));
  return { metric, rows, inputs: byInput, target, baseline };
}

type Header = Extract<ReturnType<typeof parseSafetensors>, { state: "read" }>;

function readTensor(
  name: string,
  { dtype, shape, data_offsets: [from, to] }: SafetensorsEntry,
  { metadata, startBytes }: Header,
  file: Uint8Array,
): HeldOutTensor {
  const element = Object.hasOwn(ELEMENTS, dtype) ? ELEMENTS[dtype] : undefined;
  if (element === undefined)
    throw new RangeError(`the tensor ${quote(name)} is of ${quote(dtype)}, and not of ${Object.keys(ELEMENTS).join()}`);
  if (shape.length === 0) throw new RangeError(`the tensor ${quote(name)} has no dimension that counts samples`);
  const elements = countElements(shape);
  if (to - from !== elements * element.bytes)
    throw new RangeError(`the tensor ${quote(name)} has ${to - from} bytes for ${elements} elements of ${dtype}`);
  const [scale, offset] = [readFactor(metadata, name, "scale", 1), readFactor(metadata, name, "offset", 0)];
  const view = new DataView(file.buffer, file.byteOffset + startBytes + from, to - from);
  const values = new Float32Array(elements);
  for (let at = 0; at < elements; at++) values[at] = element.read(view, at * element.bytes) * scale + offset;
  if (!values.every(Number.isFinite)) throw new RangeError(`the tensor ${quote(name)} has numbers that are not finite`);
  return { shape, values };
}

function readFactor(metadata: Header["metadata"], tensor: string, name: string, otherwise: number): number {
  const text = metadata.get(`${tensor}.${name}`);
  const value = text === undefined ? otherwise : Number(text);
  if (text?.trim() === "" || !Number.isFinite(value))
    throw new RangeError(`the ${name} of the tensor ${quote(tensor)} is ${quote(text ?? "")}, and no number`);
  return value;
}

function requireTensor(tensors: ReadonlyMap<string, HeldOutTensor>, name: string): HeldOutTensor {
  const tensor = tensors.get(name);
  if (tensor === undefined) throw new RangeError(`there is no tensor ${quote(name)}`);
  return tensor;
}

function isKnown(name: string): boolean {
  return name === "target" || name === "baseline" || name.startsWith(INPUT_PREFIX);
}

/** A text from a file, shortened for a message. */
function quote(text: string): string {
  return JSON.stringify(text.slice(0, LIMITS.nameLength));
}
