import type { SizeExpression } from "../../protocol/size-expression.ts";

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
