import { InvalidArgumentError } from "commander";

/** Reads a percentile as a share: `p99`, `99` and `0.99` are the same. */
export function percentileOption(text: string): number {
  const [, digits = ""] = /^p?(\d+(?:\.\d+)?)$/.exec(text) ?? [];
  const value = Number(digits);
  // Without the float's own error: 99.9 % is 0.999.
  const share = value < 1 ? value : Number((value / 100).toFixed(10));
  if (digits !== "" && share > 0 && share < 1) return share;
  throw new InvalidArgumentError("must be a percentile such as p99.");
}
