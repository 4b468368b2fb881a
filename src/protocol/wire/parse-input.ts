import type { z } from "zod";
import { type FieldError, ProblemError, toPointerPart } from "./problem.ts";

/** Checks a value by its schema; each error names its place behind `prefix`. */
export function checkInput<Value>(
  schema: z.ZodType<Value>,
  value: unknown,
  prefix = "#",
): { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly errors: FieldError[] } {
  const parsed = schema.safeParse(value);
  if (parsed.success) return { ok: true, value: parsed.data };
  return { ok: false, errors: parsed.error.issues.flatMap((issue) => toFieldErrors(issue, prefix)) };
}

/** The value by its schema. Throws `invalid-request` with all errors. */
export function parseInput<Value>(schema: z.ZodType<Value>, value: unknown, prefix = "#"): Value {
  const checked = checkInput(schema, value, prefix);
  if (checked.ok) return checked.value;
  throw invalidRequest(checked.errors);
}

export function invalidRequest(errors: FieldError[]): ProblemError {
  const named = errors.map(({ pointer, message }) => `${pointer}: ${message}`).join("; ");
  return new ProblemError("invalid-request", named.slice(0, 1_000), { errors: errors.slice(0, 32) });
}

/** Refusal of a body of more than `maxBytes`; `as` says how it is counted. */
export function bodyTooLarge(maxBytes: number, as = ""): ProblemError {
  const message = `must be at most ${maxBytes} bytes${as === "" ? "" : ` ${as}`}`;
  return new ProblemError("payload-too-large", `The body ${message}.`, { errors: [{ pointer: "#", message }] });
}

/** Refusal of a body's media type; the header `Accept` names the right ones (RFC 9110, section 15.5.16). */
export function unsupportedMediaType(found: string, wanted: readonly string[]): ProblemError {
  const message = `must be ${wanted.join(" or ")}${found === "" ? "" : `, not ${found.slice(0, 64)}`}`;
  const errors = [{ pointer: "header/content-type", message }];
  return new ProblemError(
    "unsupported-media-type",
    `The content type ${message}.`,
    { errors },
    { accept: wanted.join(", ") },
  );
}

/** A zod issue with its place; a key that should not be there is named itself. */
function toFieldErrors(issue: z.core.$ZodIssue, prefix: string): FieldError[] {
  const at = (path: PropertyKey[]) => [prefix, ...path.map(toPointerPart)].join("/");
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({ pointer: at([...issue.path, key]), message: "is not a known field" }));
  }
  return [{ pointer: at([...issue.path]), message: issue.message }];
}
