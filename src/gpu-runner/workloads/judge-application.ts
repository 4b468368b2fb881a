import type { Candidate, OptimisationSpec } from "../../protocol/optimisation.ts";
import type { ScenarioResult } from "../../protocol/scenario.ts";
import { isSameConfiguration, type ServingConfiguration } from "../../protocol/serving-configuration.ts";
import type { ValidationResult } from "../../protocol/validation.ts";

/** A variant on a device under a configuration. */
export interface ServedPlace extends Pick<Candidate, "deviceKey" | "backend" | "variant"> {
  readonly configuration: ServingConfiguration;
}

/** Two validations of the same service differ by so much, as a share of the worse. */
const NOISE = 0.05;

/** Whether both are the same place under the same configuration. */
export function isServedSo(standing: ServedPlace, found: ServedPlace): boolean {
  return isSamePlace(standing, found) && isSameConfiguration(standing.configuration, found.configuration);
}

/**
 * Whether what was found is to be applied, and why in words. It has to reach every target in the validation after,
 * and to be no worse by the objective than the one before, but for noise.
 */
export function judgeApplication(
  standing: ServedPlace,
  found: ServedPlace,
  { objective, targets }: Pick<OptimisationSpec, "objective" | "targets">,
  { before, after }: { readonly before: ValidationResult; readonly after: ValidationResult },
): { readonly applies: boolean; readonly detail: string } {
  const no = (detail: string) => ({ applies: false, detail: detail.slice(0, 512) });
  const missed = after.verdicts.find(({ outcome }) => outcome !== "pass");
  if (missed !== undefined) return no(`Not applied: the validation after does not bear it out. ${missed.detail}`);
  const [was, is] = [before, after].map((result) => valueOf(result, objective, targets.percentile));
  if (was != null && (is == null || is < was * (1 - NOISE))) {
    return no(
      `Not applied: by its validation it is worse than before, ${format(is ?? 0)} where that had ${format(was)}.`,
    );
  }
  if (isSamePlace(standing, found)) {
    return { applies: true, detail: "Applied: the placement is served by it from now on." };
  }
  const { variant, backend, deviceKey } = found;
  return {
    applies: true,
    detail: `Applied to the placement of ${variant} by ${backend} on ${deviceKey}. That is another than requests got when the search began: they get it where they name it, or where fidelity and predicted time put it first. The other placement stays as it is.`,
  };
}

function isSamePlace(one: ServedPlace, other: ServedPlace): boolean {
  return one.deviceKey === other.deviceKey && one.backend === other.backend && one.variant === other.variant;
}

/** The objective as validated, where more is better; null where it was not measured. */
function valueOf({ scenarios }: ValidationResult, objective: OptimisationSpec["objective"], percentile: number) {
  const of = (kind: ScenarioResult["scenario"]["kind"]) => scenarios.find(({ scenario }) => scenario.kind === kind);
  if (objective === "throughput") return of("offline")?.samplesPerS ?? null;
  const ms = of("singleStream")?.percentiles.find((each) => each.percentile === percentile)?.ms;
  return ms === undefined ? null : 1_000 / ms;
}

function format(value: number): string {
  return `${Number(value.toPrecision(3))}/s`;
}
