import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { jobQueue, type ProjectEnv } from "../config.ts";
import { changePlacementRule } from "../fleet/placement-rules.ts";
import { answerOnce } from "../http/answers.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { readOctets } from "../http/read-body.ts";
import { noteChange } from "../inference/snapshot.ts";
import { reportModel } from "../models/describe-model.ts";
import { storeModel, storeModelFiles, storeVariant, storeVersionData } from "../models/store-model.ts";
import { advanceUpload, storePart } from "../models/upload-file.ts";
import { countOldFile, mustFindModel } from "../models/stored-model.ts";
import { readSweep, readTrade } from "../models/sweep/read-sweep.ts";
import { tradeToTable } from "../models/sweep/weigh-variants.ts";
import { openProject } from "../store/database.ts";
import { listPlacementsOfVersions } from "../store/fleet/placement-store.ts";
import { listModels } from "../store/models/model-store.ts";
import { submit } from "./jobs.ts";

export function bindModels(app: Hono<AppEnv>): void {
  bind(app, endpoints.uploadModel, async ({ c, env, query }) => {
    return answerStored(env, await storeModel(env, query.name, await readOctets(c.req.raw, LIMITS.modelBytes), query));
  });
  bind(app, endpoints.uploadModelFiles, async ({ env, query, body }) => {
    return answerStored(env, await storeModelFiles(env, query.name, body, query));
  });

  bind(app, endpoints.beginUpload, ({ env, body }) => advanceUpload(env, body));
  bind(app, endpoints.putUploadPart, async ({ c, env, params, query }) => {
    await storePart(env, c.req.raw, { ...params, partDigest: query.digest });
    return new Response(null, { status: 204 });
  });

  bind(app, endpoints.uploadVariant, async ({ c, env, params, query }) => {
    const bytes = await readOctets(c.req.raw, LIMITS.modelBytes);
    const { version, created } = await storeVariant(env, params.model, params.version, { ...query, bytes });
    return Response.json(version, { status: created ? 201 : 200 });
  });

  bind(app, endpoints.checkModel, async ({ c }) => {
    return reportModel(await readOctets(c.req.raw, LIMITS.modelBytes));
  });

  bind(app, endpoints.listModels, ({ env, query }) => listModels(openProject(env), query));
  bind(app, endpoints.getModel, async ({ env, params, waitUntil }) => {
    const model = await mustFindModel(env, params.model);
    waitUntil(countOldFile(env, model));
    return model;
  });
  bind(app, endpoints.setPlacement, async ({ env, params, body }) => {
    const { id } = await mustFindModel(env, params.model);
    await changePlacementRule(env, id, body);
    return mustFindModel(env, params.model);
  });
  bind(app, endpoints.listPlacements, async ({ env, params }) => {
    const model = await mustFindModel(env, params.model);
    const versionIds = model.versions.map(({ id }) => id);
    const [items, calibrations] = await Promise.all([
      listPlacementsOfVersions(openProject(env), versionIds),
      jobQueue(env).latestCalibrations(env.project, versionIds),
    ]);
    return { items, calibrations };
  });
}

/** Smaller variants of versions, and the data of their measurements. */
export function bindCompressions(app: Hono<AppEnv>): void {
  bind(app, endpoints.createVariant, async (call) => {
    const { name: model } = await mustFindModel(call.env, call.params.model);
    return submit(call, { kind: "compression", model, ...call.body });
  });

  bind(app, endpoints.putVersionData, async ({ c, env, params }) => {
    const bytes = await readOctets(c.req.raw, LIMITS.heldOutBytes);
    return storeVersionData(env, params.model, params.version, bytes);
  });
}

/** Measurements of calibrations for a decision: batch sizes, and variants. */
export function bindSweeps(app: Hono<AppEnv>): void {
  bind(app, endpoints.getPlacementSweep, ({ env, params, query }) => readSweep(env, params.id, query));

  bind(app, endpoints.getModelTrade, async ({ c, env, params, query }) => {
    const trade = await readTrade(env, params.model, query.version);
    return answerOnce(c, trade, () => Promise.resolve({ body: trade }), tradeToTable);
  });
}

function answerStored(
  { project }: ProjectEnv,
  { model, version, created }: Awaited<ReturnType<typeof storeModel>>,
): Response {
  if (created) noteChange(project);
  return Response.json({ model, version }, { status: created ? 201 : 200 });
}
