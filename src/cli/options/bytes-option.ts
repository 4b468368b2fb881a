import { InvalidArgumentError } from "commander";

const FACTORS: Readonly<Record<string, number>> = { "": 1, B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };

/** Reads a number of bytes, such as `200000000` or `200MiB`. */
export function bytesOption(text: string): number {
  const [, digits = "", unit = ""] = /^(\d+(?:\.\d+)?)\s*([A-Za-z]*)$/.exec(text) ?? [];
  const bytes = Math.round(Number(digits) * (FACTORS[unit] ?? Number.NaN));
  if (digits !== "" && Number.isSafeInteger(bytes) && bytes > 0) return bytes;
  throw new InvalidArgumentError("must be bytes such as 200000000 or 200MiB.");
}
