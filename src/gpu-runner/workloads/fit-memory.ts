import type { MemoryFit } from "../../protocol/model.ts";

export interface MemorySample {
  readonly rows: number;
  readonly bytes: number;
}

/**
 * Memory as `baseBytes + rows · bytesPerRow`: the ordinary least squares line through the samples (Legendre,
 * 1805). Neither part is negative: where the line says so, that part is 0 and the other one fits best alone.
 * Null without samples.
 */
export function fitMemory(samples: readonly MemorySample[]): MemoryFit | null {
  if (samples.length === 0) return null;
  const mean = (of: (sample: MemorySample) => number) =>
    samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length;
  const [rows, bytes] = [mean((sample) => sample.rows), mean((sample) => sample.bytes)];
  const spread = mean((sample) => (sample.rows - rows) ** 2);
  const slope = spread === 0 ? 0 : mean((sample) => (sample.rows - rows) * (sample.bytes - bytes)) / spread;
  if (slope <= 0) return { baseBytes: bytes, bytesPerRow: 0 };
  const base = bytes - slope * rows;
  if (base >= 0) return { baseBytes: base, bytesPerRow: slope };
  const throughOrigin = mean((sample) => sample.rows * sample.bytes) / mean((sample) => sample.rows ** 2);
  return { baseBytes: 0, bytesPerRow: throughOrigin };
}
