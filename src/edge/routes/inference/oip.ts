import type { Hono } from "hono";
import { endpoints } from "../../../protocol/endpoints.ts";
import { InferWishes } from "../../../protocol/inference/inference.ts";
import type { TensorSpec } from "../../../protocol/models/model.ts";
import { OIP_DATATYPES, OIP_EXTENSIONS, OIP_HEADER_LENGTH } from "../../../protocol/inference/oip.ts";
import { invalidRequest } from "../../../protocol/wire/parse-input.ts";
import { type FieldError, ProblemError } from "../../../protocol/wire/problem.ts";
import { VERSION } from "../../../protocol/wire/release.ts";
import { locateVersion, type Snapshot, type Version } from "../../inference/snapshot.ts";
import type { ProjectEnv } from "../../config.ts";
import { type AppEnv, bind, type HandlerInput } from "../../http/bind.ts";
import { addUpTotals } from "./oip-statistics.ts";
import { acceptedEncoding, decodeBody, writeOipReply } from "./write-oip-reply.ts";
import { type OipRequest, readOipRequest } from "./read-oip-request.ts";
import { isReadable } from "../../store/database.ts";
import { readRequestTotals } from "../../store/history/total-store.ts";
import { answerInference } from "../../inference/answer-inference.ts";

/** The Open Inference Protocol under `/v2`: a codec around the path of every inference. */
export function bindOip(app: Hono<AppEnv>): void {
  bind(app, endpoints.oipLive, async () => sayNothing(200));
  bind(app, endpoints.oipReady, async ({ env }) => sayNothing((await isReadable(env.DB)) ? 200 : 503));
  bind(app, endpoints.oipServer, async () => ({ name: "millrace", version: VERSION, extensions: OIP_EXTENSIONS }));

  bind(app, endpoints.oipModel, async (call) => describeModel(await locate(call)));
  bind(app, endpoints.oipModelVersion, async (call) => describeModel(await locate(call)));
  bind(app, endpoints.oipModelReady, async (call) => readiness(await locate(call)));
  bind(app, endpoints.oipModelVersionReady, async (call) => readiness(await locate(call)));
  bind(app, endpoints.oipModelStats, async (call) => describeStats(call.env, (await locate(call)).version));
  bind(app, endpoints.oipModelVersionStats, async (call) => describeStats(call.env, (await locate(call)).version));
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

/** A reply that consists of its status only. */
function sayNothing(status: 200 | 503): Response {
  return new Response("", { status, headers: { "content-type": "text/plain" } });
}

function describeModel({ snapshot, version }: Located) {
  const known = snapshot.projects.get(version.project)?.versions.get(version.model) ?? [];
  const versions = known.map((each) => String(each.version));
  const specs = (tensors: readonly TensorSpec[]) =>
    tensors.map(({ name, dtype, shape }) => ({ name, datatype: OIP_DATATYPES[dtype], shape }));
  const { inputs, outputs } = version;
  return { name: version.model, versions, platform: "onnx", inputs: specs(inputs), outputs: specs(outputs) };
}

/** Ready means that some online runner has the version and may serve it. */
function readiness({ snapshot, version }: Located): Response {
  const placements = snapshot.placements.get(version.id) ?? [];
  const isServed = placements.some(({ online, draining }) => online && !draining);
  return isServed ? sayNothing(200) : Response.json({ error: "No runner serves the model now." }, { status: 400 });
}

/** Statistics begin anew with each day, so that a reply never reads the whole history. */
const DAY_MS = 86_400_000;

/** Statistics from the history, so some seconds old. */
async function describeStats(env: ProjectEnv, { model, version }: Version) {
  const nowMs = Date.now();
  const totals = await readRequestTotals(env, `${model}@${version}`, nowMs - (nowMs % DAY_MS));
  return { model_stats: [{ name: model, version: String(version), ...addUpTotals(totals) }] };
}

async function infer(call: Call, version: Version): Promise<Response> {
  const { c } = call;
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
  const answer = await answerInference(call, input);
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
