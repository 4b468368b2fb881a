import type { Context, Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import { InferWishes } from "../../protocol/inference.ts";
import type { TensorSpec } from "../../protocol/model.ts";
import { OIP_DATATYPES, OIP_EXTENSIONS, OIP_HEADER_LENGTH } from "../../protocol/oip.ts";
import { type FieldError, ProblemError } from "../../protocol/problem.ts";
import { VERSION } from "../../protocol/version.ts";
import { locateVersion, type Snapshot, type Version } from "../budget/snapshot.ts";
import type { Env } from "../config.ts";
import { type AppEnv, bind, invalidRequest } from "../http/bind.ts";
import { addUpTotals } from "../oip/add-up-totals.ts";
import { acceptedEncoding, decodeBody } from "../oip/decode-body.ts";
import { type OipRequest, readOipRequest } from "../oip/read-oip-request.ts";
import { writeOipReply } from "../oip/write-oip-reply.ts";
import { readRequestTotals } from "../store/total-store.ts";
import { answerInference } from "./answer-inference.ts";

/** The Open Inference Protocol under `/v2`: a codec over the way that every inference takes. */
export function bindOip(app: Hono<AppEnv>): void {
  bind(app, endpoints.oipLive, async () => sayNothing(200));
  bind(app, endpoints.oipReady, async ({ env }) => sayNothing((await isReady(env)) ? 200 : 503));
  bind(app, endpoints.oipServer, async () => ({ name: "millrace", version: VERSION, extensions: OIP_EXTENSIONS }));

  bind(app, endpoints.oipModel, async ({ c, params }) => describeModel(await locate(c, params.model)));
  bind(app, endpoints.oipModelVersion, async ({ c, params }) => describeModel(await locateNumbered(c, params)));
  bind(app, endpoints.oipModelReady, async ({ c, params }) => readiness(await locate(c, params.model)));
  bind(app, endpoints.oipModelVersionReady, async ({ c, params }) => readiness(await locateNumbered(c, params)));
  bind(app, endpoints.oipModelStats, async ({ c, params }) =>
    describeStats(c, (await locate(c, params.model)).version),
  );
  bind(app, endpoints.oipModelVersionStats, async ({ c, params }) =>
    describeStats(c, (await locateNumbered(c, params)).version),
  );
  bind(app, endpoints.oipInfer, async ({ c, params }) => infer(c, (await locate(c, params.model)).version));
  bind(app, endpoints.oipVersionInfer, async ({ c, params }) => infer(c, (await locateNumbered(c, params)).version));
}

interface Located {
  readonly snapshot: Snapshot;
  readonly version: Version;
}

function locateNumbered(c: Context<AppEnv>, { model, version }: { model: string; version: string }): Promise<Located> {
  return locate(c, `${model}@${version}`);
}

/** The version that a name means. Unknown ones are 400 here, in the words that Triton's clients look for. */
async function locate(c: Context<AppEnv>, reference: string): Promise<Located> {
  const located = await locateVersion(c.env, (work) => c.executionCtx.waitUntil(work), reference);
  if (located !== null) return located;
  throw new ProblemError("not-found", `Request for unknown model: '${reference}' is not found`);
}

/** What says all by its status is empty text. */
function sayNothing(status: 200 | 503): Response {
  return new Response("", { status, headers: { "content-type": "text/plain" } });
}

async function isReady(env: Env): Promise<boolean> {
  const answer = await env.DB.prepare("select 1 as one")
    .first("one")
    .catch(() => null);
  return answer === 1;
}

function describeModel({ snapshot, version }: Located) {
  const versions = (snapshot.versions.get(version.model) ?? []).map((each) => String(each.version));
  const specs = (tensors: readonly TensorSpec[]) =>
    tensors.map(({ name, dtype, shape }) => ({ name, datatype: OIP_DATATYPES[dtype], shape }));
  const { inputs, outputs } = version;
  return { name: version.model, versions, platform: "onnx", inputs: specs(inputs), outputs: specs(outputs) };
}

/** Ready is what some runner that is online has and may serve. */
function readiness({ snapshot, version }: Located): Response {
  const placements = snapshot.placements.get(version.id) ?? [];
  const isServed = placements.some(({ online, draining }) => online && !draining);
  return isServed ? sayNothing(200) : Response.json({ error: "No runner serves the model now." }, { status: 400 });
}

/** Statistics begin anew with each day, so that the history is not read whole each time. */
const DAY_MS = 86_400_000;

/** Read from the history, so some seconds old. */
async function describeStats({ env }: Context<AppEnv>, { model, version }: Version) {
  const nowMs = Date.now();
  const totals = await readRequestTotals(env.DB, `${model}@${version}`, nowMs - (nowMs % DAY_MS));
  return { model_stats: [{ name: model, version: String(version), ...addUpTotals(totals) }] };
}

async function infer(c: Context<AppEnv>, version: Version): Promise<Response> {
  const body = await decodeBody(c.req.raw);
  const request = readOipRequest(body, c.req.header(OIP_HEADER_LENGTH) ?? null, version.inputs);
  checkOutputs(request, version);
  const { tensors, budgetMs, priority } = request;
  const input = {
    ...InferWishes.parse({ budgetMs, priority }),
    model: `${version.model}@${version.version}`,
    tensors,
    pointerOf: (name: string) => {
      const index = tensors.findIndex((tensor) => tensor.name === name);
      return index < 0 ? "#/inputs" : `#/inputs/${index}`;
    },
  };
  const waitUntil = (work: Promise<unknown>) => c.executionCtx.waitUntil(work);
  const answer = await answerInference(c.env, { ...input, scope: c.get("scope") }, c.get("arrivedAtMs"), waitUntil);
  const { totalMs } = answer.reply.latency;
  const parameters = { total_ms: totalMs, predicted_ms: answer.reply.prediction.latencyMs };
  const head = { model_name: version.model, model_version: String(version.version), parameters };
  return writeOipReply(request, head, answer.tensors, acceptedEncoding(c.req.raw));
}

function checkOutputs({ outputs }: OipRequest, { model, outputs: known }: Version): void {
  const errors: FieldError[] = [];
  for (const [index, name] of [...(outputs?.keys() ?? [])].entries()) {
    if (known.some((output) => output.name === name)) continue;
    errors.push({
      pointer: `#/outputs/${index}/name`,
      message: `unexpected inference output '${name}' for model '${model}'`,
    });
  }
  if (errors.length > 0) throw invalidRequest(errors);
}
