import type { Capabilities } from "../../protocol/hardware.ts";
import type { ModelVersion } from "../../protocol/model.ts";
import type { PlacementRule } from "../../protocol/placement-rule.ts";
import type { Profile } from "../../protocol/profile.ts";
import { fitProfile } from "./profile-fit.ts";

/** A rule with the profile that it names; null where that is gone, and nothing fits it. */
export type ResolvedRule =
  | Exclude<PlacementRule, { kind: "profile" }>
  | { readonly kind: "profile"; readonly profile: Profile | null };

/** Whether a model with this rule is to be measured and served on a runner. */
export function isPlacedHere(rule: ResolvedRule, runner: { id: string; capabilities: Capabilities }): boolean {
  switch (rule.kind) {
    case "automatic":
      return true;
    case "pinned":
      return rule.runnerIds.includes(runner.id);
    case "profile":
      return rule.profile !== null && fitProfile(rule.profile, runner.capabilities).fits;
  }
}

/** Whether the edge may serve a version, too: it can compute it, and no rule names other places. */
export function isPlacedAtEdge(version: Pick<ModelVersion, "edgeParameters"> & { placement: PlacementRule }): boolean {
  return version.edgeParameters !== null && version.placement.kind === "automatic";
}
