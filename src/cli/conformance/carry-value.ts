import { ProblemError } from "../../protocol/wire/problem.ts";

/** Units of a deadline on the wire, in milliseconds. */
const UNITS = { s: 1_000, ms: 1, us: 1e-3, ns: 1e-6 } as const;

/** Place of a value in a request: a header, or a field of the JSON body by its pointer (RFC 6901). */
export type Place =
  | { readonly kind: "header"; readonly name: string }
  | { readonly kind: "body"; readonly path: readonly string[] };

/** How a deadline travels: the time left at sending, in a unit. */
export interface Carrier {
  readonly place: Place;
  readonly unit: keyof typeof UNITS;
}

/**
 * Deadlines as servers take them. Sources: millrace's protocol; Triton's `docs/protocol/extension_schedule_policy.md`
 * (`timeout`, microseconds, with `allow_timeout_override`); Envoy's `x-envoy-expected-rq-timeout-ms`.
 */
export const CARRIERS: Readonly<Record<string, string>> = {
  "millrace-oip": "body:/parameters/budget_ms:ms",
  millrace: "body:/budgetMs:ms",
  triton: "body:/parameters/timeout:us",
  envoy: "header:x-envoy-expected-rq-timeout-ms:ms",
};

/** Reads a preset's name, `none` (null), `header:<name>:<unit>` or `body:<pointer>:<unit>`. Throws `invalid-request`. */
export function parseCarrier(text: string): Carrier | null {
  if (text === "none") return null;
  const full = CARRIERS[text] ?? text;
  const at = full.lastIndexOf(":");
  const unit = full.slice(at + 1);
  if (at < 0 || !(unit in UNITS))
    throw wrong("--deadline", `${Object.keys(CARRIERS).join(", ")}, none, header:<name>:ms or body:/field:us`);
  return { place: parsePlace(full.slice(0, at), "--deadline"), unit: unit as Carrier["unit"] };
}

/** Reads `header:<name>` or `body:<pointer>` of an option. Throws `invalid-request`. */
export function parsePlace(text: string, option: string): Place {
  const [, kind, rest = ""] = /^(header|body):(.+)$/.exec(text) ?? [];
  if (kind === "header" && /^[\w!#$%&'*+.^`|~-]+$/.test(rest)) return { kind, name: rest.toLowerCase() };
  if (kind === "body" && rest.startsWith("/")) {
    const path = rest.slice(1).split("/");
    return { kind, path: path.map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~")) };
  }
  throw wrong(option, "header:<name> or body:<JSON pointer>");
}

/** A duration in a carrier's unit: whole numbers of at least 1, seconds to a thousandth. */
export function writeDuration(durationMs: number, unit: Carrier["unit"]): number {
  const value = durationMs / UNITS[unit];
  return unit === "s" ? Math.max(0.001, Number(value.toFixed(3))) : Math.max(1, Math.round(value));
}

/** A body with a hole for each of its values, which is cheaper to fill than JSON is to write. */
export interface Template {
  readonly parts: readonly string[];
  /** Which value goes behind each part but the last. */
  readonly holes: readonly number[];
}

/** Cuts a JSON body at places that get a value with each request. Throws `invalid-request` where the body has no such place. */
export function cutBody(body: unknown, paths: readonly (readonly string[])[], option: string): Template {
  const copy: unknown = structuredClone(body);
  const mark = `hole-${crypto.randomUUID()}-`;
  for (const [index, path] of paths.entries()) put(copy, path, `${mark}${index}`, option);
  const pieces = JSON.stringify(copy).split(new RegExp(`"${mark}(\\d+)"`));
  return {
    parts: pieces.filter((_, index) => index % 2 === 0),
    holes: pieces.filter((_, index) => index % 2 === 1).map(Number),
  };
}

/** The text of a body; values are JSON. */
export function fillBody({ parts, holes }: Template, values: readonly string[]): string {
  return parts.map((part, index) => (index < holes.length ? part + values[holes[index]!]! : part)).join("");
}

/** Puts a value into a JSON document; objects on the way are made. */
function put(body: unknown, path: readonly string[], value: string, option: string): void {
  let at = body;
  for (const [depth, name] of path.entries()) {
    if (typeof at !== "object" || at === null) throw wrong(option, "a place in the body, which has none of that name");
    const fields = at as Record<string, unknown>;
    if (depth === path.length - 1) fields[name] = value;
    else at = fields[name] ??= {};
  }
}

function wrong(option: string, needs: string): ProblemError {
  return new ProblemError("invalid-request", `${option} must be ${needs}.`);
}
