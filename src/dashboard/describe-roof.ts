import type { RooflinePosition } from "../protocol/roofline.ts";
import { formatMeasure } from "./format.ts";

const percent = new Intl.NumberFormat("en", { style: "percent", maximumSignificantDigits: 2 });

/** A benchmark's place under its device's roofs: `31% of its roof of 12.3 GFLOP/s, bound by memory`. */
export function describeRoof({ shareOfRoof, roof, unit, bound }: RooflinePosition): string {
  if (shareOfRoof === null || roof === null) return "no roof to compare with";
  return `${percent.format(shareOfRoof)} of its roof of ${formatMeasure(roof, unit)}, bound by ${bound === "compute" ? "arithmetic" : "memory"}`;
}
