import { z } from "zod";
import { ArchiveSummary, type GenomeFormat } from "./archive.ts";

const ARRAYS = { float32: Float32Array, float16: Float16Array, int8: Int8Array } as const satisfies Record<
  GenomeFormat,
  unknown
>;

/** Stored value of a genome's largest number. */
const LARGEST = { float32: 1, float16: 1, int8: 127 } as const satisfies Record<GenomeFormat, number>;

/** Genomes as they are kept. */
interface KeptGenomes {
  /** Factor of each genome's numbers; null where none is needed. */
  readonly scales: Float32Array<ArrayBuffer> | null;
  readonly numbers: Float32Array<ArrayBuffer> | Float16Array<ArrayBuffer> | Int8Array<ArrayBuffer>;
  /** Largest rounding error of a number, relative to the largest of its genome. */
  readonly largestError: number;
}

/**
 * Rows of genomes in a format. A smaller one has its largest number at the end of what it can say, so that no genome is
 * beyond it and none is lost in its smallest steps: to ½ ⁄ 127 of the largest as int8, 2⁻¹² as float16.
 */
function encodeGenomes(genomes: Float32Array<ArrayBuffer>, parameters: number, format: GenomeFormat): KeptGenomes {
  if (format === "float32") return { scales: null, numbers: genomes, largestError: 0 };
  const rows = genomes.length / parameters;
  const scales = new Float32Array(rows);
  const numbers = new ARRAYS[format](genomes.length);
  let largestError = 0;
  for (let row = 0; row < rows; row++) {
    const own = genomes.subarray(row * parameters, (row + 1) * parameters);
    const largest = own.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    const scale = Math.fround(largest / LARGEST[format]);
    scales[row] = scale;
    if (scale === 0) continue;
    for (const [index, value] of own.entries()) {
      const at = row * parameters + index;
      numbers[at] = format === "int8" ? Math.round(value / scale) : value / scale;
      largestError = Math.max(largestError, Math.abs(Math.fround(numbers[at] * scale) - value) / largest);
    }
  }
  return { scales, numbers, largestError };
}

/** Genomes in f32 again. */
function decodeGenomes(
  bytes: ArrayBuffer,
  scales: Float32Array | null,
  parameters: number,
  format: GenomeFormat,
): Float32Array<ArrayBuffer> {
  if (scales === null) return new Float32Array(bytes);
  const numbers = new ARRAYS[format](bytes);
  return Float32Array.from(numbers, (number, index) => number * scales[Math.floor(index / parameters)]!);
}

/** Bytes of genomes without their scales. */
function sizeOfGenomes(genomes: number, parameters: number, format: GenomeFormat): number {
  return genomes * parameters * ARRAYS[format].BYTES_PER_ELEMENT;
}

/** Elites of an archive, one behind the other in every array. */
export interface FiledElites {
  readonly cells: Uint32Array<ArrayBuffer>;
  readonly fitness: Float32Array<ArrayBuffer>;
  /** elites × measures. */
  readonly measures: Float32Array<ArrayBuffer>;
  readonly thresholds: Float32Array<ArrayBuffer>;
  /** elites × parameters. */
  readonly genomes: Float32Array<ArrayBuffer>;
}

/** Description of an archive without its elites. */
export type ArchiveDescription = Omit<ArchiveSummary, "filled" | "coverage" | "qdScore" | "best" | "genomes">;

/** Part of a file before the genomes. */
export interface ArchiveHead extends Omit<FiledElites, "genomes"> {
  readonly summary: ArchiveSummary;
}

const Offset = z.number().int().min(0);
const Header = z
  .object({ __metadata__: z.object({ archive: z.string() }) })
  .catchall(z.object({ dtype: z.string(), data_offsets: z.tuple([Offset, Offset]) }));

/** Bytes that say how long the header is. */
const LENGTH_BYTES = 8;
const DTYPES = { float32: "F32", float16: "F16", int8: "I8" } as const satisfies Record<GenomeFormat, string>;
/** Numbers of an elite beside its measures and its genome: cell, fitness and threshold. */
const ELITE_NUMBERS = 3;
/** Limit of a header, which has one entry for each array and the summary. */
const MAX_HEADER_BYTES = 65_536;

/** Bytes of so many elites in a file of float32, but for its header. */
export function sizeOfElites(elites: number, parameters: number, measures: number): number {
  return 4 * elites * (parameters + ELITE_NUMBERS + measures);
}

/**
 * An archive as a safetensors file (https://github.com/huggingface/safetensors): `cells`, `fitness`, `measures`,
 * `thresholds`, the `scales` of genomes that were made smaller, and `genomes` last; the summary in the metadata.
 */
export function encodeArchive(
  description: ArchiveDescription,
  elites: FiledElites,
  format: GenomeFormat = "float32",
): { readonly summary: ArchiveSummary; readonly bytes: Uint8Array<ArrayBuffer> } {
  const { cells, fitness, measures, thresholds } = elites;
  const { parameters } = description;
  const { scales, numbers, largestError } = encodeGenomes(elites.genomes, parameters, format);
  const summary: ArchiveSummary = {
    ...description,
    ...scoreElites(fitness, description),
    genomes: { format, largestError },
  };
  const rows = cells.length;
  const arrays = [
    { name: "cells", dtype: "U32", shape: [rows], array: cells },
    { name: "fitness", dtype: "F32", shape: [rows], array: fitness },
    { name: "measures", dtype: "F32", shape: [rows, description.dims.length], array: measures },
    { name: "thresholds", dtype: "F32", shape: [rows], array: thresholds },
    ...(scales === null ? [] : [{ name: "scales", dtype: "F32", shape: [rows], array: scales }]),
    { name: "genomes", dtype: DTYPES[format], shape: [rows, parameters], array: numbers },
  ];
  let at = 0;
  const entries = arrays.map(({ name, dtype, shape, array }) => {
    const begin = at;
    at += array.byteLength;
    return [name, { dtype, shape, data_offsets: [begin, at] }];
  });
  const header = JSON.stringify({
    __metadata__: { archive: JSON.stringify(summary) },
    ...Object.fromEntries(entries),
  });
  const text = new TextEncoder().encode(header);
  // Padded so that numbers of 4 bytes lie at a multiple of 4.
  const start = LENGTH_BYTES + 8 * Math.ceil(text.length / 8);
  const bytes = new Uint8Array(start + at).fill(0x20, 0, start);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(start - LENGTH_BYTES), true);
  bytes.set(text, LENGTH_BYTES);
  let offset = start;
  for (const { array } of arrays) {
    bytes.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), offset);
    offset += array.byteLength;
  }
  return { summary, bytes };
}

/** Coverage, QD-score and best of elites (Pugh et al. 2016, with an offset as in pyribs). */
export function scoreElites(
  fitness: Float32Array,
  { dims, offset }: Pick<ArchiveSummary, "dims" | "offset">,
): Pick<ArchiveSummary, "filled" | "coverage" | "qdScore" | "best"> {
  const filled = fitness.length;
  const cells = dims.reduce((product, size) => product * size, 1);
  return {
    filled,
    coverage: filled / cells,
    qdScore: fitness.reduce((sum, value) => sum + (value - offset), 0),
    best: filled === 0 ? null : fitness.reduce((most, value) => Math.max(most, value)),
  };
}

/** Bytes from the start of a file in which everything but its genomes stands, at most. */
export function headBytesAtMost({ filled, dims }: Pick<ArchiveSummary, "filled" | "dims">): number {
  return LENGTH_BYTES + MAX_HEADER_BYTES + 4 * filled * (3 + dims.length);
}

/** Everything but the genomes; the bytes may end where those begin. Throws where this is no archive's file. */
export function decodeArchiveHead(bytes: Uint8Array<ArrayBuffer>): ArchiveHead {
  const { summary, take } = open(bytes);
  const head = {
    summary,
    cells: new Uint32Array(take("cells")),
    fitness: new Float32Array(take("fitness")),
    measures: new Float32Array(take("measures")),
    thresholds: new Float32Array(take("thresholds")),
  };
  const { cells, fitness, measures, thresholds } = head;
  const rows = [cells.length, fitness.length, thresholds.length, measures.length / summary.dims.length];
  if (rows.some((count) => count !== summary.filled)) {
    throw new RangeError("the elites are not as many as the summary says");
  }
  return head;
}

/** All of a file; genomes are float32 again, whatever they were kept as. Throws where this is no archive's file. */
export function decodeArchive(bytes: Uint8Array<ArrayBuffer>): ArchiveHead & FiledElites {
  const head = decodeArchiveHead(bytes);
  const { summary, take } = open(bytes);
  const { format } = summary.genomes;
  const numbers = take("genomes");
  if (numbers.byteLength !== sizeOfGenomes(summary.filled, summary.parameters, format)) {
    throw new RangeError("the genomes are not as many as the summary says");
  }
  const scales = format === "float32" ? null : new Float32Array(take("scales"));
  if (scales !== null && scales.length !== summary.filled) throw new RangeError("there is not a scale for each genome");
  return { ...head, genomes: decodeGenomes(numbers, scales, summary.parameters, format) };
}

function readStart(bytes: Uint8Array<ArrayBuffer>): number {
  const length = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
  if (length > MAX_HEADER_BYTES) throw new RangeError("the header is too long for an archive");
  return LENGTH_BYTES + length;
}

function open(bytes: Uint8Array<ArrayBuffer>) {
  const start = readStart(bytes);
  const text = new TextDecoder().decode(bytes.subarray(LENGTH_BYTES, start));
  const { __metadata__: metadata, ...arrays } = Header.parse(JSON.parse(text));
  const take = (name: string): ArrayBuffer => {
    const array = arrays[name];
    if (array === undefined) throw new RangeError(`there is no array '${name}'`);
    const [begin, end] = array.data_offsets;
    const part = bytes.slice(start + begin, start + end);
    if (part.length !== end - begin) throw new RangeError(`the array '${name}' is not all there`);
    return part.buffer;
  };
  return { summary: ArchiveSummary.parse(JSON.parse(metadata.archive)), take };
}
