import type { RooflinePosition } from "../protocol/fleet/roofline.ts";
import type { SizeExpression } from "../protocol/kernels/kernel-definition.ts";
import type { ListedKernel, SubmittedKernel } from "../protocol/kernels/submitted-kernel.ts";
import { type Numbers, PAGE_NUMBERS } from "./numbers.ts";
import type { Tone } from "./tone.ts";

const percent = new Intl.NumberFormat("en", { style: "percent", maximumSignificantDigits: 2 });

/** A benchmark's place under its device's roofs: `31% of its roof of 12.3 GFLOP/s, bound by memory`. */
export function describeRoof(
  { shareOfRoof, roof, unit, bound }: RooflinePosition,
  { measure }: Numbers = PAGE_NUMBERS,
): string {
  if (shareOfRoof === null || roof === null) return "no roof to compare with";
  const limit = bound === null ? "" : `, bound by ${bound === "compute" ? "arithmetic" : "memory"}`;
  return `${percent.format(shareOfRoof)} of its roof of ${measure(roof, unit)}${limit}`;
}

/** Badge of each state of a submitted kernel's check. */
export const KERNEL_STATES: Record<SubmittedKernel["state"], readonly [Tone, string]> = {
  unchecked: ["busy", "not checked yet"],
  valid: ["good", "valid"],
  invalid: ["bad", "invalid"],
};

/** A kernel's identifier in the API and the address: its name, or the id of a submitted one. */
export function nameToAsk({ source, name, id }: Pick<ListedKernel, "source" | "name" | "id">): string {
  return source === "submitted" && id !== undefined ? id : name;
}

const SIGNS = { add: " + ", subtract: " − ", multiply: " · " } as const;
const CALLS = { ceilDiv: "ceil", floorDiv: "floor", min: "min", max: "max" } as const;

/** Arithmetic over sizes as people write it: `ceil(n / 64)`, `2 · (m + n)`. */
export function spellSize(expression: SizeExpression): string {
  return spell(expression, false);
}

function spell(expression: SizeExpression, isInside: boolean): string {
  if (typeof expression !== "object") return String(expression);
  const [[name, operands = []] = ["", []]] = Object.entries(expression);
  if (name in SIGNS) {
    const text = operands.map((operand) => spell(operand, true)).join(SIGNS[name as keyof typeof SIGNS]);
    return isInside ? `(${text})` : text;
  }
  const isDivision = name === "ceilDiv" || name === "floorDiv";
  const inner = operands.map((operand) => spell(operand, isDivision)).join(isDivision ? " / " : ", ");
  return `${CALLS[name as keyof typeof CALLS] ?? name}(${inner})`;
}
