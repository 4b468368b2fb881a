/** A finished batch: its rows, its duration, and the wait of its oldest request. */
export interface BatchSample {
  readonly rows: number;
  readonly durationMs: number;
  readonly waitMs: number;
}

/**
 * Least squares of duration = rowMs · rows + fixedMs, and the mean wait. Where all batches have one size, many lines
 * fit; the one of smallest coefficients is used. Neither coefficient is below 0.
 */
export function fitBatchTimes(samples: readonly BatchSample[]): { rowMs: number; fixedMs: number; waitMs: number } {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const rows = mean(samples.map((sample) => sample.rows));
  const durationMs = mean(samples.map((sample) => sample.durationMs));
  const waitMs = mean(samples.map((sample) => sample.waitMs));
  const variance = mean(samples.map((sample) => (sample.rows - rows) ** 2));
  const covariance = mean(samples.map((sample) => (sample.rows - rows) * (sample.durationMs - durationMs)));
  const rowMs = variance > 0 ? covariance / variance : (durationMs * rows) / (rows ** 2 + 1);
  const fixedMs = variance > 0 ? durationMs - rowMs * rows : durationMs / (rows ** 2 + 1);
  return { rowMs: Math.max(1e-3, rowMs), fixedMs: Math.max(0, fixedMs), waitMs };
}
