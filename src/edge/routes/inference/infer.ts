import type { Hono } from "hono";
import { endpoints } from "../../../protocol/endpoints.ts";
import {
  FRAME_MEDIA_TYPE,
  InferFrameHeader,
  type InferReply,
  InferRequest,
  type LatencySplit,
  LinkInferHeader,
} from "../../../protocol/inference/inference.ts";
import type { Ticket, TicketRequest } from "../../../protocol/inference/ticket.ts";
import { type EdgeRunInput, type EdgeRunReply, withRows } from "../../../protocol/models/edge-place.ts";
import { createSeededInputs } from "../../../protocol/models/model-inputs.ts";
import { encodeFrame } from "../../../protocol/wire/frame.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import { tensorToJson } from "../../../protocol/wire/tensor.ts";
import { type Env, type ProjectEnv, runnerLink, scopeEnv } from "../../config.ts";
import { type AppEnv, bind } from "../../http/bind.ts";
import { admitRequest, confidenceOf } from "../../inference/admit-request.ts";
import { answerInference, describePlacement, type Inference } from "../../inference/answer-inference.ts";
import type { WaitUntil } from "../../inference/ask-placement.ts";
import { readFrameRequest, readTensorRequest, type TensorForm } from "./read-tensor-request.ts";
import { countRefusal } from "../../inference/outcome-log.ts";
import { projectOfPlacement } from "../../inference/snapshot.ts";
import { computeRows, forgetNetwork, loadNetwork } from "../../inference/wasm/edge-networks.ts";
import type { IssuedTicket } from "../../link/link-rpc.ts";
import { openDatabase } from "../../store/database.ts";
import { findAnyVersion } from "../../store/models/model-store.ts";
import { mayRead } from "../../fleet/runner-rights.ts";

/** `POST /v1/link/edge-runs`: a runner that calibrates a dense network has the edge compute it, too. */
export function bindEdgeRuns(app: Hono<AppEnv>): void {
  bind(app, endpoints.runAtEdge, ({ env, body, principal }) => runAtEdge(env, body, principal?.id ?? ""));
}

async function runAtEdge(env: Env, run: EdgeRunInput, runnerId: string): Promise<EdgeRunReply> {
  const version = await findAnyVersion(openDatabase(env.DB), run.modelVersionId);
  if (version === null || version.edgeParameters === null || !(await mayRead(env, runnerId, version.digest))) {
    throw new ProblemError("not-found", "There is no such model that the edge computes.");
  }
  if (run.fresh) forgetNetwork(version, run.variant);
  const network = await loadNetwork(env, version, run.variant);
  const [input] = createSeededInputs(withRows(version.inputs, run.rows), run.seed);
  if (input === undefined) throw new ProblemError("internal", "A dense network without an input was stored.");
  const { sizeBytes, rowProducts } = network;
  const most = Math.floor(LIMITS.edgeRunProducts / (rowProducts * (input.shape[0] ?? 1)));
  if (run.repetitions > most) {
    throw new ProblemError("invalid-request", "That would keep the edge too long.", {
      errors: [{ pointer: "#/repetitions", message: `must be at most ${most}` }],
    });
  }
  let output = computeRows(network, input);
  for (let done = 1; done < run.repetitions; done++) output = computeRows(network, input);
  return { outputs: { [output.name]: tensorToJson(output) }, sizeBytes, rowProducts };
}

/** `POST /v1/tickets`: chooses a placement as an inference would, and lets its runner's link sign for it. */
export function bindTickets(app: Hono<AppEnv>): void {
  bind(app, endpoints.createTicket, async ({ c, env, body }) => {
    const waitUntil = (work: Promise<unknown>) => c.executionCtx.waitUntil(work);
    return countRefusal(env, body.model, waitUntil, createTicket(env, body, waitUntil));
  });
}

async function createTicket(env: ProjectEnv, request: TicketRequest, waitUntil: WaitUntil): Promise<Ticket> {
  const { version, candidate } = await admitRequest(env, { ...request, tensors: null }, Date.now(), waitUntil);
  const { placement, prediction } = candidate;
  const { id: placementId, runnerId, modelVersionId, variant, deviceKey, backend } = placement;
  const { budgetMs, confidence, priority } = request;
  const place = { placementId, modelVersionId, variant, deviceKey, backend };
  const wish = { ...place, budgetMs, confidence: confidenceOf(request), priority };
  // An object that was restarted or moved rejects its calls.
  const issued: IssuedTicket | null = await runnerLink(env, runnerId)
    .issueTicket(wish)
    .catch(() => null);
  if (issued === null) throw new ProblemError("runner-lost", "The runner's link broke.", { retryAfterMs: 1_000 });
  if (!issued.ok) throw new ProblemError(issued.problem.code, issued.problem.detail, issued.problem);
  const { batch: _, ...placed } = describePlacement(candidate, 1);
  return {
    ticket: issued.ticket,
    url: issued.url,
    expiresAt: new Date(issued.expiresAtMs).toISOString(),
    lifeMs: LIMITS.ticketMs,
    requests: LIMITS.ticketRequests,
    model: version.model,
    version: version.version,
    placement: placed,
    prediction: { confidence, ...prediction },
    budgetMs,
  };
}

/** `POST /v1/infer`: read, answer, and reply in the form that the request came in; the same for a runner under load. */
export function bindInfer(app: Hono<AppEnv>): void {
  bind(app, endpoints.infer, async ({ c, env }) => {
    const arrivedAtMs = c.get("arrivedAtMs");
    const { form, input } = await readTensorRequest<Omit<InferRequest, "inputs">>(c.req.raw, {
      json: InferRequest,
      frame: InferFrameHeader,
    });
    const waitUntil = (work: Promise<unknown>) => c.executionCtx.waitUntil(work);
    const asked = { ...input, scope: c.get("scope") };
    return toResponse(form, await answerInference(env, asked, arrivedAtMs, waitUntil));
  });

  bind(app, endpoints.linkInfer, async ({ c, env, principal }) => {
    const arrivedAtMs = c.get("arrivedAtMs");
    const asked = await readFrameRequest(c.req.raw, LinkInferHeader);
    const waitUntil = (work: Promise<unknown>) => c.executionCtx.waitUntil(work);
    // No runner puts load on another.
    const runnerId = principal?.id ?? "";
    const input = { ...asked, runnerId, isMeasurement: true };
    // For the model's project, which may be another than the runner's.
    const project = (await projectOfPlacement(env, runnerId, asked.placementId)) ?? env.project;
    return toResponse("frame", await answerInference(scopeEnv(env, project), input, arrivedAtMs, waitUntil));
  });
}

function toResponse(form: TensorForm, { reply, tensors }: Inference): Response {
  const headers = { "server-timing": serverTiming(reply.latency) };
  if (form === "frame") {
    return new Response(encodeFrame(reply, tensors), { headers: { ...headers, "content-type": FRAME_MEDIA_TYPE } });
  }
  const outputs = Object.fromEntries(tensors.map((tensor) => [tensor.name, tensorToJson(tensor)]));
  return Response.json({ ...reply, outputs } satisfies InferReply, { headers });
}

/** The split as a Server-Timing header (W3C Server Timing), in milliseconds. */
function serverTiming(latency: LatencySplit): string {
  return Object.entries(latency)
    .map(([part, ms]) => `${part.slice(0, -2)};dur=${ms.toFixed(3)}`)
    .join(", ");
}
