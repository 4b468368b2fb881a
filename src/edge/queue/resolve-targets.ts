import type { JobInput } from "../../protocol/job.ts";
import { OptimisationTargets } from "../../protocol/optimisation.ts";
import type { FieldError } from "../../protocol/problem.ts";
import type { Profile } from "../../protocol/profile.ts";

type Input = Pick<Extract<JobInput, { kind: "optimisation" }>, "subject" | "targets" | "objective">;

/** What only a model has. */
const OF_MODELS = ["memoryBytes", "minFidelity"] as const;

/**
 * What a search is to reach: what was asked for, and what of the profile's targets was not. A job that names neither
 * target nor objective nor a profile with targets asks for nothing.
 */
export function resolveTargets(
  { subject, targets: asked = {}, objective }: Input,
  profile: Profile | null,
): { targets: OptimisationTargets; errors: FieldError[] } {
  const { throughputRps, ...others } = profile?.targets ?? {};
  const given = { ...others, ...(throughputRps !== undefined && { throughputPerS: throughputRps }) };
  const isModel = subject.kind === "model";
  if (!isModel) delete given.memoryBytes;
  const errors = isModel
    ? []
    : OF_MODELS.filter((name) => asked[name] !== undefined).map((name) => ({
        pointer: `#/targets/${name}`,
        message: "belongs to models: it is not measured of a kernel",
      }));
  const { percentile: _, ...bounds } = { ...given, ...asked };
  if (Object.keys(bounds).length === 0 && objective === undefined) {
    errors.push({ pointer: "#/targets", message: "names nothing to reach, and there is no objective" });
  }
  return { targets: OptimisationTargets.parse({ ...given, ...asked }), errors };
}
