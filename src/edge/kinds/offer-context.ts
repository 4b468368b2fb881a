import { edgeVariantsOf } from "../../protocol/models/edge-place.ts";
import type { JobSpec } from "../../protocol/jobs/job.ts";
import type { Offer } from "../../protocol/link.ts";
import { isPlacedAtEdge } from "../fleet/plan-runner.ts";
import type { Database } from "../store/database.ts";
import { isEnvironmentId, readOfferedEnvironment } from "../store/models/environment-store.ts";
import { findProgram, isKernelId } from "../store/kernels/kernel-store.ts";
import { findAnyVersion, toPlacedModel } from "../store/models/model-store.ts";
import { readMeasuredPlaces } from "../store/fleet/placement-store.ts";

/**
 * What a runner needs beside a job's spec: the model that it is about, with how each of its places there is to be
 * served, and the submitted kernel or environment that is run. That they are of the job's project was seen to when it
 * was accepted.
 */
export async function readOfferContext(
  db: Database,
  spec: JobSpec,
  runnerId: string,
): Promise<Pick<Offer, "model" | "program" | "environment" | "edge">> {
  if (spec.kind === "calibration") {
    const version = await findAnyVersion(db, spec.modelVersionId);
    if (version === null) return { model: null };
    const { edgeParameters: parameters } = version;
    const model = toPlacedModel(version, await readMeasuredPlaces(db, runnerId, version.id));
    if (parameters === null || !isPlacedAtEdge(version)) return { model };
    return { model, edge: { variants: edgeVariantsOf(parameters) } };
  }
  if (spec.kind === "compression") {
    const version = await findAnyVersion(db, spec.modelVersionId);
    return { model: version === null ? null : toPlacedModel(version, []) };
  }
  if (spec.kind === "validation" || spec.kind === "optimisation") {
    const version = spec.modelVersionId === undefined ? null : await findAnyVersion(db, spec.modelVersionId);
    if (version === null) return { model: null };
    return { model: toPlacedModel(version, await readMeasuredPlaces(db, runnerId, version.id)) };
  }
  if (spec.kind === "probe" || spec.kind === "evolution" || spec.kind === "consensus") return { model: null };
  if (spec.kind === "evaluation" || spec.kind === "training") {
    const { environment: id } = spec;
    const environment = isEnvironmentId(id) ? await readOfferedEnvironment(db, id) : null;
    return environment === null ? { model: null } : { model: null, environment };
  }
  const program = isKernelId(spec.kernel) ? await findProgram(db, spec.kernel) : null;
  return program === null ? { model: null } : { model: null, program };
}
