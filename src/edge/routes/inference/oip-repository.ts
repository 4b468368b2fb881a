import type { Hono } from "hono";
import type { z } from "zod";
import { endpoints } from "../../../protocol/endpoints.ts";
import { AUTOMATIC } from "../../../protocol/fleet/serving.ts";
import { OipControlRequest, type OipIndex, OipIndexRequest } from "../../../protocol/inference/oip.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { invalidRequest, parseInput } from "../../../protocol/wire/parse-input.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import type { ProjectEnv } from "../../config.ts";
import { changePlacementRule } from "../../fleet/placement-rules.ts";
import { answerNothing } from "../../http/answers.ts";
import { type AppEnv, bind, type HandlerInput } from "../../http/bind.ts";
import { parseJson, readBody } from "../../http/read-body.ts";
import { freshSnapshot, isServed, noteChange, type Snapshot, type Version } from "../../inference/snapshot.ts";
import { openProject } from "../../store/database.ts";
import { findModel } from "../../store/models/model-store.ts";

/** Triton's model repository: the project's models, which placement rules load and unload. */
export function bindOipRepository(app: Hono<AppEnv>): void {
  bind(app, endpoints.oipIndex, async (call) => {
    const { ready } = await readRequest(call.c.req.raw, OipIndexRequest);
    return describeIndex(await freshSnapshot(call)).filter(({ state }) => !ready || state === "READY");
  });
  bind(app, endpoints.oipLoad, async (call) => {
    const { id, placement } = await openControl(call, "load");
    if (placement.kind === "none") await changePlacementRule(call.env, id, AUTOMATIC);
    return done(call.env);
  });
  bind(app, endpoints.oipUnload, async (call) => {
    const { id } = await openControl(call, "unload");
    await changePlacementRule(call.env, id, { kind: "none" });
    return done(call.env);
  });
}

/** The project's next request in this isolate sees the change. */
function done({ project }: ProjectEnv): Response {
  noteChange(project);
  return answerNothing();
}

/** A request's content; clients leave out an empty one, and its media type. */
async function readRequest<Content>(request: Request, schema: z.ZodType<Content>): Promise<Content> {
  const body = await readBody(request, LIMITS.oipControlBytes);
  return parseInput(schema, body.byteLength === 0 ? {} : parseJson(body));
}

type Call = HandlerInput<{ readonly model: string }, unknown, unknown, unknown> & { readonly env: ProjectEnv };

/** The model of a request to load or unload it. A configuration or files in the request are refused. */
async function openControl({ c, env, params }: Call, action: "load" | "unload") {
  const { parameters = {} } = await readRequest(c.req.raw, OipControlRequest);
  const unknown = Object.keys(parameters).filter((name) => name !== "unload_dependents");
  if (unknown.length > 0) {
    const message = "is not supported: upload another version of the model instead";
    throw invalidRequest(unknown.map((name) => ({ pointer: `#/parameters/${name}`, message })));
  }
  const model = await findModel(openProject(env), params.model);
  if (model !== null) return model;
  const why = action === "load" ? "failed to poll from model repository" : "the model is not in the repository";
  throw new ProblemError("not-found", `failed to ${action} '${params.model}', ${why}`);
}

function describeIndex({ all, placements }: Snapshot): OipIndex {
  return all.map((version) => {
    const reason = explainAbsence(version, placements.get(version.id) ?? []);
    const state = reason === "" ? "READY" : "UNAVAILABLE";
    return { name: version.model, version: String(version.version), state, reason };
  });
}

/** Triton's word for an unloaded model, else what is missing; empty where the version is served. */
function explainAbsence({ placement }: Version, places: Parameters<typeof isServed>[0]): string {
  if (isServed(places)) return "";
  if (placement.kind === "none") return "unloaded";
  return places.length > 0 ? "no runner that serves it is online" : "no runner was calibrated for it";
}
