import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Model } from "../../protocol/model.ts";
import { ProblemError } from "../../protocol/problem.ts";
import type { Env } from "../config.ts";
import { type AppEnv, bind, unsupportedMediaType } from "../http/bind.ts";
import { mediaTypeOf, readBody } from "../http/read-body.ts";
import { readSignature } from "../onnx/read-signature.ts";
import { digestOf, putArtifact } from "../store/artifact-store.ts";
import { openDatabase } from "../store/database.ts";
import { addModelVersion, findModel, listModels } from "../store/model-store.ts";
import { listPlacementsOfVersions } from "../store/placement-store.ts";
import { jobQueue } from "../stubs.ts";

const ONNX_MEDIA_TYPE = "application/octet-stream";

export function bindModels(app: Hono<AppEnv>): void {
  bind(app, endpoints.uploadModel, async ({ c, env, query }) => {
    const mediaType = mediaTypeOf(c.req.raw);
    if (mediaType !== ONNX_MEDIA_TYPE) throw unsupportedMediaType(mediaType, [ONNX_MEDIA_TYPE]);
    const file = await readBody(c.req.raw, LIMITS.modelBytes);
    const signature = readSignature(file);
    if (!signature.ok) {
      const errors = [{ pointer: "#", message: signature.message }];
      throw new ProblemError("invalid-model", `The model cannot be used: ${signature.message}.`, { errors });
    }
    const digest = await digestOf(file.buffer);
    await putArtifact(env.ARTIFACTS, digest, file.buffer);
    const { inputs, outputs } = signature;
    const input = { name: query.name, digest, sizeBytes: file.byteLength, inputs, outputs };
    const { model, version, created } = await addModelVersion(openDatabase(env.DB), input);
    if (created) await jobQueue(env).calibrateEverywhere(version.id);
    return Response.json({ model, version }, { status: created ? 201 : 200 });
  });

  bind(app, endpoints.listModels, ({ env, query }) => listModels(openDatabase(env.DB), query));
  bind(app, endpoints.getModel, ({ env, params }) => mustFind(env, params.model));
  bind(app, endpoints.listPlacements, async ({ env, params }) => {
    const model = await mustFind(env, params.model);
    const versionIds = model.versions.map(({ id }) => id);
    return { items: await listPlacementsOfVersions(openDatabase(env.DB), versionIds) };
  });
}

async function mustFind(env: Env, nameOrId: string): Promise<Model> {
  const model = await findModel(openDatabase(env.DB), nameOrId);
  if (model === null) throw new ProblemError("not-found", `There is no model ${nameOrId}.`);
  return model;
}
