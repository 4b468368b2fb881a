import type { FieldError } from "../../protocol/problem.ts";

/** What a problem says of each field of a form, and of what is none of them. */
export interface PlacedErrors {
  /** By the pointer that names the field. */
  readonly byField: ReadonlyMap<string, string>;
  readonly others: readonly FieldError[];
}

/** Puts each error at the field that its pointer names, or else at the nearest one around it. */
export function placeErrors(errors: readonly FieldError[], fields: readonly string[]): PlacedErrors {
  const byField = new Map<string, string>();
  const others: FieldError[] = [];
  for (const error of errors) {
    const around = fields.filter((field) => error.pointer === field || error.pointer.startsWith(`${field}/`));
    const nearest = around.toSorted((a, b) => b.length - a.length)[0];
    if (nearest === undefined) others.push(error);
    else byField.set(nearest, [byField.get(nearest), error.message].filter(Boolean).join("; "));
  }
  return { byField, others };
}
