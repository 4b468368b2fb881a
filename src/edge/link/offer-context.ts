import { edgeVariantsOf } from "../../protocol/edge-place.ts";
import type { JobSpec } from "../../protocol/job.ts";
import type { Offer } from "../../protocol/link.ts";
import { isPlacedAtEdge } from "../budget/is-placed-here.ts";
import type { Database } from "../store/database.ts";
import { findProgram, isKernelId } from "../store/kernel-store.ts";
import { findModelVersion, toPlacedModel } from "../store/model-store.ts";

/** What a runner needs beside a job's spec: the model that is calibrated, the submitted kernel that is timed. */
export async function readOfferContext(
  db: Database,
  spec: JobSpec,
): Promise<Pick<Offer, "model" | "program" | "edge">> {
  if (spec.kind === "calibration") {
    const version = await findModelVersion(db, spec.modelVersionId);
    if (version === null) return { model: null };
    const { edgeParameters: parameters } = version;
    const model = toPlacedModel(version);
    if (parameters === null || !isPlacedAtEdge(version)) return { model };
    return { model, edge: { variants: edgeVariantsOf(parameters), parameters } };
  }
  const program = isKernelId(spec.kernel) ? await findProgram(db, spec.kernel) : null;
  return program === null ? { model: null } : { model: null, program };
}
