import type { GenomeFormat } from "./archive.ts";

const ARRAYS = { float32: Float32Array, float16: Float16Array, int8: Int8Array } as const satisfies Record<
  GenomeFormat,
  unknown
>;

/** What the largest number of a genome becomes. */
const LARGEST = { float32: 1, float16: 1, int8: 127 } as const satisfies Record<GenomeFormat, number>;

/** Genomes as they are kept. */
interface KeptGenomes {
  /** What a genome's numbers are multiplied with; null: there is nothing to scale. */
  readonly scales: Float32Array<ArrayBuffer> | null;
  readonly numbers: Float32Array<ArrayBuffer> | Float16Array<ArrayBuffer> | Int8Array<ArrayBuffer>;
  /** Of a number, over the largest of its genome. */
  readonly largestError: number;
}

/**
 * Rows of genomes in a format. A smaller one has its largest number at the end of what it can say, so that no genome is
 * beyond it and none is lost in its smallest steps: to ½ ⁄ 127 of the largest as int8, 2⁻¹² as float16.
 */
export function encodeGenomes(
  genomes: Float32Array<ArrayBuffer>,
  parameters: number,
  format: GenomeFormat,
): KeptGenomes {
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
export function decodeGenomes(
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
export function sizeOfGenomes(genomes: number, parameters: number, format: GenomeFormat): number {
  return genomes * parameters * ARRAYS[format].BYTES_PER_ELEMENT;
}
