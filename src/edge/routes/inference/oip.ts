import type { Hono } from "hono";
import { endpoints } from "../../../protocol/endpoints.ts";
import { InferWishes } from "../../../protocol/inference/inference.ts";
import {
  describeOipConfig,
  describeOipModel,
  type OipSubject,
} from "../../../protocol/inference/describe-oip-model.ts";
import {
  latencyParameters,
  OIP_EXTENSIONS,
  OIP_HEADER_LENGTH,
  refuseExtension,
} from "../../../protocol/inference/oip.ts";
import {
  checkOutputs,
  pointInto,
  readOipRequest,
  readOipSettings,
} from "../../../protocol/inference/read-oip-request.ts";
import { refuseLate } from "../../../protocol/inference/refuse-late.ts";
import {
  describeOipReply,
  oipHeaders,
  type OipReplyParts,
  writeOipReply,
} from "../../../protocol/inference/write-oip-reply.ts";
import { acceptedEncoding, type BodyEncoding } from "../../../protocol/wire/content-encoding.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import { VERSION } from "../../../protocol/wire/release.ts";
import { freshSnapshot, isServed, locateVersion, type Snapshot, type Version } from "../../inference/snapshot.ts";
import { answerNothing } from "../../http/answers.ts";
import { type AppEnv, bind, type HandlerInput } from "../../http/bind.ts";
import { bindOipRepository } from "./oip-repository.ts";
import { describeStatistics } from "./oip-statistics.ts";
import { isReadable } from "../../store/database.ts";
import { countRefusal } from "../../inference/outcome-log.ts";
import { answerInference } from "../../inference/answer-inference.ts";
import { discardBody, parseJson, readBody } from "../../http/read-body.ts";
import { areLong, measureJson, streamJson } from "../../http/write-json.ts";
import { endTurn } from "../../turns.ts";

/** The Open Inference Protocol under `/v2`: a codec around the path of every inference. */
export function bindOip(app: Hono<AppEnv>): void {
  bind(app, endpoints.oipLive, async () => answerNothing());
  bind(app, endpoints.oipReady, async ({ env }) => {
    if (await isReadable(env.DB)) return answerNothing();
    throw new ProblemError("overloaded", "The database cannot be read now.");
  });
  bind(app, endpoints.oipServer, async () => ({ name: "millrace", version: VERSION, extensions: OIP_EXTENSIONS }));
  app.on(["GET", "POST"], "/v2/*", async (c, next) => {
    const refusal = refuseExtension(c.req.path);
    if (refusal === null) return next();
    await discardBody(c.req.raw);
    return Response.json({ error: refusal.error }, { status: refusal.status });
  });

  // Before the models: one named `stats` is reached by its id.
  bind(app, endpoints.oipAllStats, async (call) => {
    const snapshot = await freshSnapshot(call);
    return describeStatistics(call.env, snapshot, snapshot.all);
  });
  bindOipRepository(app);
  bind(app, endpoints.oipModel, async (call) => describeModel(await locate(call)));
  bind(app, endpoints.oipModelVersion, async (call) => describeModel(await locate(call)));
  bind(app, endpoints.oipModelReady, async (call) => readiness(await locate(call)));
  bind(app, endpoints.oipModelVersionReady, async (call) => readiness(await locate(call)));
  bind(app, endpoints.oipModelStats, async (call) => {
    const { snapshot, version } = await locate(call);
    return describeStatistics(call.env, snapshot, siblingsOf(snapshot, version));
  });
  bind(app, endpoints.oipModelVersionStats, async (call) => {
    const { snapshot, version } = await locate(call);
    return describeStatistics(call.env, snapshot, [version]);
  });
  bind(app, endpoints.oipModelConfig, async (call) => describeConfig(await locate(call)));
  bind(app, endpoints.oipModelVersionConfig, async (call) => describeConfig(await locate(call)));
  bind(app, endpoints.oipInfer, async (call) => infer(call, (await locate(call)).version));
  bind(app, endpoints.oipVersionInfer, async (call) => infer(call, (await locate(call)).version));
}

/** A request about a model, or about one version of it. */
type Call = HandlerInput<{ readonly model: string; readonly version?: string }, unknown, unknown, unknown>;

interface Located {
  readonly snapshot: Snapshot;
  readonly version: Version;
}

/** The version of a name. Unknown ones are 400 here, with the message that Triton's clients look for. */
async function locate(call: Call): Promise<Located> {
  const { model, version } = call.params;
  const reference = version === undefined ? model : `${model}@${version}`;
  const located = await locateVersion(call, reference);
  if (located !== null) return located;
  throw new ProblemError("not-found", `Request for unknown model: '${reference}' is not found`);
}

/** All versions of a version's model. */
function siblingsOf({ versions }: Snapshot, { model }: Version): readonly Version[] {
  return versions.get(model) ?? [];
}

function subjectOf({ model, inputs, outputs }: Version): OipSubject {
  return { name: model, inputs, outputs };
}

function describeModel({ snapshot, version }: Located) {
  const versions = siblingsOf(snapshot, version).map((each) => each.version);
  return describeOipModel(subjectOf(version), versions);
}

function describeConfig({ snapshot, version }: Located) {
  const online = (snapshot.placements.get(version.id) ?? []).filter((placement) => isServed([placement]));
  return describeOipConfig(subjectOf(version), online, { placement_rule: version.placement.kind });
}

/** Ready means that some online runner has the version and may serve it. */
function readiness({ snapshot, version }: Located): Response {
  if (isServed(snapshot.placements.get(version.id) ?? [])) return answerNothing();
  return Response.json({ error: "Model version not ready" }, { status: 400 });
}

async function infer(call: Call, version: Version): Promise<Response> {
  const { c } = call;
  const { headers } = c.req.raw;
  const body = await readBody(c.req.raw, LIMITS.inferBodyBytes);
  const reference = `${version.model}@${version.version}`;
  const headerLength = headers.get(OIP_HEADER_LENGTH);
  await countRefusal(call, reference, async () => refuseLate(body, headerLength, call.unseenMs));
  // Many long texts would be parsed in one turn, one behind the other.
  const jsonBytes = headerLength === null ? body.byteLength : Number(headerLength);
  if (jsonBytes > LIMITS.jsonBodyBytes) await endTurn(c.req.raw);
  const request = readOipRequest(body, headerLength, version.inputs, parseJson);
  checkOutputs(request, version.model, version.outputs);
  const { tensors, priority } = request;
  const budgetMs = request.budgetMs ?? LIMITS.oipBudgetMs;
  const input = {
    ...InferWishes.parse({ budgetMs, priority, ...readOipSettings(request) }),
    model: reference,
    tensors,
    pointerOf: pointInto(tensors),
  };
  const answer = await answerInference(call, input);
  const { latency, prediction } = answer.reply;
  const parameters = { ...latencyParameters(latency), predicted_ms: prediction.latencyMs };
  const head = { model_name: version.model, model_version: String(version.version), parameters };
  const encoding = acceptedEncoding(headers.get("accept-encoding"));
  const parts = describeOipReply(request, head, answer.tensors);
  if (areLong(answer.tensors.filter(({ bytes }) => !parts.raw.includes(bytes)))) return streamReply(parts, encoding);
  const reply = await writeOipReply(parts, encoding);
  return new Response(reply.body, { headers: reply.headers, encodeBody: "manual" });
}

/** A long reply, written while it is read. */
async function streamReply({ json, raw }: OipReplyParts, encoding: BodyEncoding | null): Promise<Response> {
  const headers = oipHeaders(raw.length === 0 ? 0 : await measureJson(json), raw, encoding);
  const body = streamJson(json, raw);
  const packed = encoding === null ? body : body.pipeThrough(new CompressionStream(encoding));
  return new Response(packed, { headers, encodeBody: "manual" });
}
