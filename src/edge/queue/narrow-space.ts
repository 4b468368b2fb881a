import { LIMITS } from "../../protocol/limits.ts";
import type { OptimisationSpec, SearchSpace } from "../../protocol/optimisation.ts";
import type { FieldError } from "../../protocol/problem.ts";
import type { Profile } from "../../protocol/profile.ts";
import type { SpaceBounds } from "./check-search-space.ts";

/**
 * A space without what the subject names otherwise, what the profile's settings exclude, and variants that are known
 * to lack the fidelity that is wanted. A precision that no variant is named after narrows nothing. An error where
 * nothing is left.
 */
export function narrowSpace(
  { subject, space, targets }: Pick<OptimisationSpec, "subject" | "space" | "targets">,
  { variants }: SpaceBounds,
  fidelities: ReadonlyMap<string, number>,
  profile: Profile | null,
): { space: SearchSpace; errors: FieldError[] } {
  const { backends, precision, maxBatch } = profile?.settings ?? {};
  const errors: FieldError[] = [];
  const left = <Value>(field: keyof SearchSpace, values: readonly Value[], reason: string): Value[] => {
    if (values.length === 0) errors.push({ pointer: `#/space/${field}`, message: reason });
    return [...values];
  };
  const narrowed: SearchSpace = { ...space };
  const named = subject.kind === "model" ? subject.backend : undefined;
  if (backends !== undefined || named !== undefined) {
    const wanted = space.backends ?? backends ?? [named!];
    const allowed = wanted.filter((each) => (backends ?? wanted).includes(each) && (named ?? each) === each);
    narrowed.backends = left("backends", allowed, `has none of those of profile and subject: ${list(backends, named)}`);
  }
  const byPrecision = subject.kind === "model" && precision !== undefined && variants.includes(precision);
  const faithful = (space.variants ?? variants)
    .filter((each) => (subject.variant ?? each) === each)
    .filter((each) => !byPrecision || each === precision);
  const enough = faithful.filter((each) => (fidelities.get(each) ?? 1) >= targets.minFidelity);
  if (faithful.length === 0) left("variants", faithful, `has none of those of profile and subject`);
  else if (enough.length === 0) {
    const known = faithful.map((each) => `${each} ${fidelities.get(each)}`).join(", ");
    errors.push({ pointer: "#/targets/minFidelity", message: `is more than any variant has: ${known}` });
  }
  if (enough.length < variants.length || space.variants !== undefined) narrowed.variants = enough;
  if (maxBatch !== undefined) {
    const wanted = space.maxRows ?? powersOfTwo(Math.min(maxBatch, LIMITS.batchRows));
    const allowed = wanted.filter((each) => each <= maxBatch);
    narrowed.maxRows = left("maxRows", allowed, `is all above ${maxBatch}, the largest batch of the profile`);
  }
  return { space: narrowed, errors };
}

function powersOfTwo(most: number): number[] {
  return Array.from({ length: Math.floor(Math.log2(most)) + 1 }, (_, power) => 2 ** power);
}

function list(backends: readonly string[] | undefined, named: string | undefined): string {
  return [...new Set([...(backends ?? []), ...(named === undefined ? [] : [named])])].join(", ");
}
