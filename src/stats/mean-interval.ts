import { studentTQuantile } from "./student-t.ts";

/** A mean with the interval that would hold it in 95 of 100 samples. */
export interface MeanInterval {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/**
 * The mean of a sample of at least one value, with Student's t interval of 95 % ("The probable error of a mean",
 * Biometrika 6, 1908). One value alone has itself at both ends: nothing is known of its spread.
 */
export function meanInterval(values: ArrayLike<number>): MeanInterval {
  const n = values.length;
  let sum = 0;
  for (let index = 0; index < n; index++) sum += values[index]!;
  const value = sum / n;
  if (n < 2) return { value, low: value, high: value };
  let squares = 0;
  for (let index = 0; index < n; index++) squares += (values[index]! - value) ** 2;
  const reach = studentTQuantile(0.975, n - 1) * Math.sqrt(squares / (n - 1) / n);
  return { value, low: value - reach, high: value + reach };
}
