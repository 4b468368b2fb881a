import type { CalibratedPlacement, CalibrationResult, CalibrationSpec } from "../../protocol/jobs/calibration.ts";
import { edgeVariantsOf } from "../../protocol/models/edge-place.ts";
import type { ProjectEnv } from "../config.ts";
import { isPlacedAtEdge, isPlacedHere } from "../fleet/plan-runner.ts";
import { checkDeclared } from "../models/declare-sizes.ts";
import { threadsOf } from "../history/request-measurements.ts";
import { type Database, openProject } from "../store/database.ts";
import { readMeasuredPlaces, savePlacement } from "../store/fleet/placement-store.ts";
import { findRunner } from "../store/fleet/runner-store.ts";
import { appendMeasurements, type Measurement } from "../store/history/point-store.ts";
import { findAnyVersion, findModelVersion, learnShapes, toPlacedModel } from "../store/models/model-store.ts";
import { resolveRule } from "../store/models/version-store.ts";
import type { JobKindModule, OfferContext, RunContext, StoredRun } from "./kind.ts";
import { pointsOf } from "./subjects/run-points.ts";

export const calibration: JobKindModule<CalibrationSpec> = {
  prepare: async (spec, { db }) => {
    const isKnown = (await findModelVersion(db, spec.modelVersionId)) !== null;
    return { spec, errors: isKnown ? [] : [{ pointer: "#/modelVersionId", message: "is not a version of a model" }] };
  },
  offer,
  answers: (spec, { modelVersionId }) => modelVersionId === spec.modelVersionId,
  distributions: ({ linkMs, placements }) => [
    linkMs,
    ...placements.flatMap((each) => [each.linkMs ?? linkMs, ...each.sweep.map(({ serviceMs }) => serviceMs)]),
  ],
  store,
};

/**
 * The model with the serving configuration of each of its places on the runner, and the variants that the edge
 * computes.
 */
async function offer(db: Database, { modelVersionId }: CalibrationSpec, runnerId: string): Promise<OfferContext> {
  const version = await findAnyVersion(db, modelVersionId);
  if (version === null) return { model: null };
  const { edgeParameters: parameters } = version;
  const model = toPlacedModel(version, await readMeasuredPlaces(db, runnerId, version.id));
  if (parameters === null || !isPlacedAtEdge(version)) return { model };
  return { model, edge: { variants: edgeVariantsOf(parameters) } };
}

/** Stores the placements that a calibration measured, if the model's rule places it on the runner. */
async function store(
  env: ProjectEnv,
  { runnerId, result }: StoredRun<CalibrationSpec>,
  run: RunContext,
): Promise<void> {
  const db = openProject(env);
  const version = await findModelVersion(db, result.modelVersionId);
  if (version === null) return;
  // A calibration may be requested on a runner where the model's rule does not place it.
  const { capabilities = null } = (await findRunner(db, runnerId, [])) ?? {};
  const rule = await resolveRule(db, version.placement);
  const isPlaced = capabilities !== null && isPlacedHere(rule, { id: runnerId, capabilities });
  const { edgeParameters } = version;
  const atEdge: readonly string[] =
    edgeParameters !== null && isPlacedAtEdge(version) ? edgeVariantsOf(edgeParameters) : [];
  const { shapes } = result;
  // A runner may be wrong, and the edge generates inputs of these shapes for its probes.
  const misfits = shapes === undefined ? [] : checkDeclared(version.inputs, { shapes });
  if (shapes !== undefined && misfits.length === 0) await learnShapes(db, version, shapes);
  if (misfits.length > 0)
    console.error(JSON.stringify({ event: "shapes-refused", runnerId, version: version.id, misfits }));
  for (const placement of isPlaced ? result.placements : []) {
    // The edge must not get requests for variants that it cannot or may not compute.
    if (placement.backend === "edge-wasm" && !atEdge.includes(placement.variant)) continue;
    await savePlacement(db, runnerId, result, placement);
  }
  await appendMeasurements(env.DB, measureCalibration(result, `${version.model}@${version.version}`, run));
}

/** A calibration's points in the history: service and link of every placement it measured. */
function measureCalibration(
  { placements, linkMs }: CalibrationResult,
  subject: string,
  run: RunContext,
): Measurement[] {
  return placements.flatMap((placement) => {
    const pointAt = (batch: number) => pointsOf(run, describePlacement(placement, subject, batch));
    return [
      ...placement.sweep.map(({ rows, serviceMs }) =>
        pointAt(rows)("serviceMs", "ms", "lower", serviceMs, "runner-wall"),
      ),
      pointAt(1)("linkMs", "ms", "lower", placement.linkMs ?? linkMs, "runner-wall"),
    ];
  });
}

function describePlacement(
  { variant, backend, environment, configuration }: CalibratedPlacement,
  subject: string,
  batch: number,
): Parameters<typeof pointsOf>[1] {
  return {
    subjectKind: "model",
    subject,
    configuration: { variant, backend, batch, ...threadsOf(configuration) },
    environment,
  };
}
