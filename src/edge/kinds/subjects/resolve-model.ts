import type { JobSubject } from "../../../protocol/jobs/job-fields.ts";
import type { FieldError } from "../../../protocol/wire/problem.ts";
import { chooseVersion } from "../../models/choose-version.ts";
import { type NamedVersion, readVersionsOf } from "../../store/models/model-store.ts";
import { type LivePlacement, readLivePlacements } from "../../store/fleet/live-placement-store.ts";
import type { JobSurroundings } from "../kind.ts";

type ModelSubject = Extract<JobSubject, { kind: "model" }>;

export type ResolvedModel =
  | { readonly ok: true; readonly version: NamedVersion; readonly placement: LivePlacement }
  | { readonly ok: false; readonly errors: FieldError[] };

/**
 * A job's model version, and the placement that requests would get. Among runners that may take the job, online ones
 * come first, then the highest fidelity, then the fastest.
 */
export async function resolveModel(
  { db, candidates }: JobSurroundings,
  subject: ModelSubject,
  deviceKey: string | undefined,
): Promise<ResolvedModel> {
  const [name = "", number] = subject.model.split("@", 2);
  const versions = await readVersionsOf(db, name);
  const placements = await readLivePlacements(db);
  const placed = new Set(placements.map(({ modelVersionId }) => modelVersionId));
  const version = chooseVersion(versions, number, (id) => placed.has(id));
  if (version === null) return refuse("#/subject/model", "is not a model that was uploaded");
  const runnerIds = new Set(candidates.map(({ id }) => id));
  const here = placements.filter(
    ({ modelVersionId, runnerId, backend }) =>
      modelVersionId === version.id && runnerIds.has(runnerId) && backend !== "edge-wasm",
  );
  if (here.length === 0) return refuse("#/subject/model", "is placed on no runner that may take this job");
  const offered = here.filter(({ variant }) => subject.variant === undefined || variant === subject.variant);
  if (offered.length === 0) return refuse("#/subject/variant", `must be one of: ${namesOf(here, "variant")}`);
  const able = offered.filter(({ backend }) => subject.backend === undefined || backend === subject.backend);
  if (able.length === 0) return refuse("#/subject/backend", `must be one of: ${namesOf(offered, "backend")}`);
  const [placement] = able
    .filter((each) => deviceKey === undefined || each.deviceKey === deviceKey)
    .toSorted((a, b) => rank(a, b));
  if (placement === undefined) return refuse("#/deviceKey", `must be one of: ${namesOf(able, "deviceKey")}`);
  return { ok: true, version, placement };
}

function rank(a: LivePlacement, b: LivePlacement): number {
  const ms = ({ sweep }: LivePlacement) => sweep[0]?.serviceMs.p50 ?? Number.POSITIVE_INFINITY;
  return Number(b.online) - Number(a.online) || (b.fidelity ?? 0) - (a.fidelity ?? 0) || ms(a) - ms(b);
}

function namesOf(placements: readonly LivePlacement[], field: "variant" | "backend" | "deviceKey"): string {
  return [...new Set(placements.map((placement) => placement[field]))].toSorted().join(", ");
}

function refuse(pointer: string, message: string): ResolvedModel {
  return { ok: false, errors: [{ pointer, message }] };
}
