import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import type { PlacementRule } from "../../protocol/fleet/serving.ts";
import { EDGE_VARIANTS } from "../../protocol/models/edge-place.ts";
import { type HeldOut, readHeldOut } from "../../protocol/models/held-out-file.ts";
import type { ModelVersion } from "../../protocol/models/model.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { invalidRequest } from "../../protocol/wire/parse-input.ts";
import { type FieldError, ProblemError } from "../../protocol/wire/problem.ts";
import { jobQueue, type ProjectEnv } from "../config.ts";
import { planEdge, planRunner } from "../fleet/plan-runner.ts";
import { answerOnce } from "../http/answers.ts";
import { type AppEnv, bind, unsupportedMediaType } from "../http/bind.ts";
import { mediaTypeOf, readBody } from "../http/read-body.ts";
import { checkHeldOut } from "../models/check-held-out.ts";
import { describeModel, type ModelDescription, reportModel } from "../models/describe-model.ts";
import { compareSignatures } from "../models/read-signature.ts";
import { countOldFile, mustFindModel, mustFindVersion } from "../models/stored-model.ts";
import { readSweep, readTrade } from "../models/sweep/read-sweep.ts";
import { tradeToTable } from "../models/sweep/weigh-variants.ts";
import { submitJob } from "../queue/submit-job.ts";
import { digestOf, putArtifact } from "../store/artifact-store.ts";
import { openProject, type ProjectDatabase } from "../store/database.ts";
import { deletePlacements, listPlacementsOfVersions } from "../store/fleet/placement-store.ts";
import { findProfile } from "../store/fleet/profile-store.ts";
import { findRunnerIds, readRunnerCapabilities } from "../store/fleet/runner-store.ts";
import { addModelVersion, listModels, readVersionsOf } from "../store/models/model-store.ts";
import { addVariant, resolveRule, setPlacementRule, setVersionData } from "../store/models/version-store.ts";

const MEDIA_TYPE = "application/octet-stream";

/** Smaller variants of versions, and the data that they are measured on. */
export function bindCompressions(app: Hono<AppEnv>): void {
  bind(app, endpoints.createVariant, async ({ c, env, principal, params, headers, body }) => {
    const { name: model } = await mustFindModel(env, params.model);
    const submitter = { c, env, principal, key: headers["idempotency-key"] };
    return submitJob(submitter, { kind: "compression", model, ...body });
  });

  bind(app, endpoints.putVersionData, async ({ c, env, params }) => {
    const mediaType = mediaTypeOf(c.req.raw);
    if (mediaType !== MEDIA_TYPE) throw unsupportedMediaType(mediaType, [MEDIA_TYPE]);
    const bytes = await readBody(c.req.raw, LIMITS.heldOutBytes);
    const heldOut = parseHeldOut(bytes);
    const version = await mustFindVersion(env, params.model, params.version);
    const errors = checkHeldOut(version, heldOut);
    if (errors.length > 0) throw invalidRequest(errors);
    const digest = await digestOf(bytes.buffer);
    await refuseWhileUsed(env, version, digest);
    await putArtifact(env.ARTIFACTS, digest, bytes.buffer);
    const { rows, metric } = heldOut;
    await setVersionData(env, version.id, { digest, sizeBytes: bytes.byteLength, rows, metric });
    return mustFindVersion(env, params.model, params.version);
  });
}

/** Other data would take away what a compression has yet to read. */
async function refuseWhileUsed(env: ProjectEnv, { data }: ModelVersion, digest: string): Promise<void> {
  if (data === null || data.digest === digest) return;
  const jobId = await jobQueue(env).findMeasuredOn(env.project, data.digest);
  if (jobId === null) return;
  throw new ProblemError("conflict", `${jobId} is measured on the data that are there: wait for it, or cancel it.`);
}

function parseHeldOut(bytes: Uint8Array): HeldOut {
  try {
    return readHeldOut(bytes);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw invalidRequest([{ pointer: "#", message: `is no held-out part: ${error.message}` }]);
  }
}

/** What calibrations measured, as a decision needs it: batch sizes, and variants. */
export function bindSweeps(app: Hono<AppEnv>): void {
  bind(app, endpoints.getPlacementSweep, ({ env, params, query }) => readSweep(env, params.id, query));

  bind(app, endpoints.getModelTrade, async ({ c, env, params, query }) => {
    const trade = await readTrade(env, params.model, query.version);
    return answerOnce(c, trade, () => Promise.resolve({ body: trade }), tradeToTable);
  });
}

const ONNX_MEDIA_TYPE = "application/octet-stream";

export function bindModels(app: Hono<AppEnv>): void {
  bind(app, endpoints.uploadModel, async ({ c, env, query }) => {
    const { bytes, digest, ...described } = await readModelFile(c.req.raw);
    await putArtifact(env.ARTIFACTS, digest, bytes.buffer);
    const input = { name: query.name, digest, sizeBytes: bytes.byteLength, ...described };
    const { model, version, created, learnt } = await addModelVersion(openProject(env), input);
    if (created || learnt) await calibrateEverywhere(env, version.id, model.placement);
    return Response.json({ model, version }, { status: created ? 201 : 200 });
  });

  bind(app, endpoints.uploadVariant, async ({ c, env, params, query }) => {
    const file = await readModelFile(c.req.raw);
    const version = await mustFindVersion(env, params.model, params.version);
    const errors = compareSignatures(version, file);
    if (errors.length > 0) throw new ProblemError("invalid-model", "It is no variant of this version.", { errors });
    await putArtifact(env.ARTIFACTS, file.digest, file.bytes.buffer);
    const { digest, bytes, summary } = file;
    const { fidelity = null } = query;
    const stands = { digest, sizeBytes: bytes.byteLength, fidelity, summary };
    const variant = { modelVersionId: version.id, name: query.name, ...stands };
    // What the edge makes of the version's own file is no file's name.
    const isReserved = EDGE_VARIANTS.some((name) => name === query.name);
    const outcome = isReserved ? "taken" : await addVariant(openProject(env), variant);
    if (outcome === "taken") throw new ProblemError("conflict", `The variant ${query.name} is another file.`);
    if (outcome === "full") {
      throw new ProblemError("conflict", `A version has at most ${LIMITS.variantsPerVersion} variants.`);
    }
    const { placement } = await mustFindModel(env, params.model);
    if (outcome === "created") await calibrateEverywhere(env, version.id, placement);
    const stored = await mustFindVersion(env, params.model, params.version);
    return Response.json(stored, { status: outcome === "created" ? 201 : 200 });
  });

  bind(app, endpoints.checkModel, async ({ c }) => reportModel(await readOnnxBody(c.req.raw)));

  bind(app, endpoints.listModels, ({ env, query }) => listModels(openProject(env), query));
  bind(app, endpoints.getModel, async ({ c, env, params }) => {
    const model = await mustFindModel(env, params.model);
    c.executionCtx.waitUntil(countOldFile(env, model));
    return model;
  });
  bind(app, endpoints.setPlacement, async ({ env, params, body }) => {
    const db = openProject(env);
    const { id } = await mustFindModel(env, params.model);
    const errors = await checkRule(db, body);
    if (errors.length > 0) throw invalidRequest(errors);
    await setPlacementRule(db, id, body);
    await applyRules(env, id);
    return mustFindModel(env, params.model);
  });
  bind(app, endpoints.listPlacements, async ({ env, params }) => {
    const model = await mustFindModel(env, params.model);
    const versionIds = model.versions.map(({ id }) => id);
    return { items: await listPlacementsOfVersions(openProject(env), versionIds) };
  });
}

async function calibrateEverywhere(env: ProjectEnv, versionId: string, rule: PlacementRule): Promise<void> {
  await jobQueue(env).calibrateEverywhere(env.project, versionId, await resolveRule(openProject(env), rule));
}

/** Deletes the placements that rules do not allow any more, and has those measured that they add. */
async function applyRules(env: ProjectEnv, modelId: string): Promise<void> {
  const db = openProject(env);
  const nowMs = Date.now();
  const [versions, runners] = await Promise.all([readVersionsOf(db), readRunnerCapabilities(db)]);
  const edge = await planEdge(
    env.DB,
    versions.filter((version) => version.modelId === modelId),
  );
  await deletePlacements(db, edge.outdated, nowMs);
  const plans = [];
  for (const runner of runners) plans.push({ id: runner.id, ...(await planRunner(env.DB, versions, runner)) });
  const owed = new Set(plans.flatMap(({ uncalibrated }) => uncalibrated.map(({ id }) => id)));
  // Whoever calibrates a version measures the edge, too; where nobody owes that, all are asked, since some may be away.
  const edgeOnly = edge.uncalibrated.filter(({ id }) => !owed.has(id));
  for (const { id, uncalibrated, outdated } of plans) {
    await deletePlacements(db, outdated, nowMs);
    await jobQueue(env).ensureCalibrations(id, [...uncalibrated, ...edgeOnly]);
  }
}

/** Checks what the schema cannot: that what a rule names is there. */
async function checkRule(db: ProjectDatabase, rule: PlacementRule): Promise<FieldError[]> {
  if (rule.kind === "profile" && (await findProfile(db, rule.profile)) === null) {
    return [{ pointer: "#/profile", message: "is not a hardware profile" }];
  }
  if (rule.kind !== "pinned") return [];
  const known = await findRunnerIds(db, rule.runnerIds);
  return rule.runnerIds.flatMap((id, index) =>
    known.has(id) ? [] : [{ pointer: `#/runnerIds/${index}`, message: "is not a registered runner" }],
  );
}

interface ModelFile extends ModelDescription {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly digest: string;
}

/** The ONNX file that a request brings; fails with `invalid-model` where it cannot be used. */
async function readModelFile(request: Request): Promise<ModelFile> {
  const bytes = await readOnnxBody(request);
  return { bytes, digest: await digestOf(bytes.buffer), ...describeModel(bytes) };
}

async function readOnnxBody(request: Request): Promise<Uint8Array<ArrayBuffer>> {
  const mediaType = mediaTypeOf(request);
  if (mediaType !== ONNX_MEDIA_TYPE) throw unsupportedMediaType(mediaType, [ONNX_MEDIA_TYPE]);
  return readBody(request, LIMITS.modelBytes);
}
