import { InvalidArgumentError } from "commander";

const FACTORS: Readonly<Record<string, number>> = { "": 1, B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };

/** Reads a number of bytes, such as `200000000` or `200MiB`. */
export function bytesOption(text: string): number {
  const [, digits = "", unit = ""] = /^(\d+(?:\.\d+)?)\s*([A-Za-z]*)$/.exec(text) ?? [];
  const bytes = Math.round(Number(digits) * (FACTORS[unit] ?? Number.NaN));
  if (digits !== "" && Number.isSafeInteger(bytes) && bytes > 0) return bytes;
  throw new InvalidArgumentError("must be bytes such as 200000000 or 200MiB.");
}

/** An option that may be given several times, each value read by itself. */
export function collect<Value>(read: (text: string) => Value) {
  return (text: string, before: readonly Value[] = []): Value[] => [...before, read(text)];
}

/** Reads an option that is a number within bounds. */
export function numberBetween(min: number, max: number) {
  return (text: string): number => {
    const value = Number(text);
    if (text.trim() !== "" && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`must be a number from ${min} to ${max}.`);
  };
}

/** Reads an option that is a whole number within bounds. */
export function wholeBetween(min: number, max: number) {
  return (text: string): number => {
    const value = numberBetween(min, max)(text);
    if (Number.isInteger(value)) return value;
    throw new InvalidArgumentError("must be a whole number.");
  };
}

/** Reads a percentile as a share: `p99`, `99` and `0.99` are the same. */
export function percentileOption(text: string): number {
  const [, digits = ""] = /^p?(\d+(?:\.\d+)?)$/.exec(text) ?? [];
  const value = Number(digits);
  // Without the float's own error: 99.9 % is 0.999.
  const share = value < 1 ? value : Number((value / 100).toFixed(10));
  if (digits !== "" && share > 0 && share < 1) return share;
  throw new InvalidArgumentError("must be a percentile such as p99.");
}

/** Reads sizes by name, such as `m=256,n=256`; given again, later ones count. */
export function shapeOption(text: string, before: Readonly<Record<string, number>> = {}): Record<string, number> {
  const sizes = text.split(",").map((part): [string, number] => {
    const [, name = "", size = ""] = /^\s*([A-Za-z]\w*)=(\d+)\s*$/.exec(part) ?? [];
    if (name === "" || Number(size) < 1 || !Number.isSafeInteger(Number(size))) {
      throw new InvalidArgumentError("must be sizes such as n=1000000,m=64.");
    }
    return [name, Number(size)];
  });
  return { ...before, ...Object.fromEntries(sizes) };
}
