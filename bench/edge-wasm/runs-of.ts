import type { MlpCase } from "./mlp-case.ts";

/** Products of a batch: some ten milliseconds. */
const PRODUCTS = 2 ** 26;

/** Runs of a case for one sample. */
export function runsOf({ widths }: MlpCase): number {
  const products = widths.slice(1).reduce((sum, outputs, index) => sum + outputs * (widths[index] ?? 0), 0);
  return Math.min(10_000, Math.ceil(PRODUCTS / products));
}
