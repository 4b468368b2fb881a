import type { Hono } from "hono";
import { endpoints } from "../../../protocol/endpoints.ts";
import {
  FRAME_MEDIA_TYPE,
  InferFrameHeader,
  InferRequest,
  type LatencySplit,
  LinkInferHeader,
} from "../../../protocol/inference/inference.ts";
import { encodeFrame } from "../../../protocol/wire/frame.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import { jobQueue, scopeEnv } from "../../config.ts";
import { type AppEnv, bind } from "../../http/bind.ts";
import { answerTensors } from "../../http/write-json.ts";
import { answerInference, type Inference } from "../../inference/answer-inference.ts";
import { askTicket } from "../../inference/ask-ticket.ts";
import { projectOfPlacement } from "../../inference/snapshot.ts";
import { runAtEdge } from "../../inference/wasm/edge-networks.ts";
import { openDatabase } from "../../store/database.ts";
import { findAnyVersion } from "../../store/models/model-store.ts";
import { readFrameRequest, readTensorRequest, type TensorForm } from "./read-tensor-request.ts";

/** `POST /v1/infer`: replies in the format of the request; the same for load from a runner. */
export function bindInfer(app: Hono<AppEnv>): void {
  bind(app, endpoints.infer, async (call) => {
    const { form, input } = await readTensorRequest<Omit<InferRequest, "inputs">>(call.c.req.raw, {
      json: InferRequest,
      frame: InferFrameHeader,
    });
    return toResponse(form, await answerInference(call, input));
  });

  bind(app, endpoints.linkInfer, async ({ c, env, principal, ...about }) => {
    const asked = await readFrameRequest(c.req.raw, LinkInferHeader);
    // No runner puts load on another.
    const runnerId = principal?.id ?? "";
    // In the model's project, which may differ from the runner's.
    const project = (await projectOfPlacement(env, runnerId, asked.placementId)) ?? env.project;
    const call = { ...about, env: scopeEnv(env, project), scope: null };
    return toResponse("frame", await answerInference(call, { ...asked, runnerId, isMeasurement: true }));
  });
}

/** `POST /v1/tickets`: the same choice, for a direct request to the runner. */
export function bindTickets(app: Hono<AppEnv>): void {
  bind(app, endpoints.createTicket, (call) => askTicket(call, call.body));
}

/** `POST /v1/link/edge-runs`: computes a dense network at the edge for a runner that has to calibrate it now. */
export function bindEdgeRuns(app: Hono<AppEnv>): void {
  bind(app, endpoints.runAtEdge, async ({ env, body, principal }) => {
    const version = await findAnyVersion(openDatabase(env.DB), body.modelVersionId);
    const isKnown = version !== null && version.edgeParameters !== null;
    if (!isKnown || !(await jobQueue(env).isCalibrating(principal?.id ?? "", [version.id]))) {
      throw new ProblemError("not-found", "There is no such model that the edge computes.");
    }
    return runAtEdge(env, version, body);
  });
}

function toResponse(form: TensorForm, { reply, tensors }: Inference): Response {
  const headers = { "server-timing": serverTiming(reply.latency) };
  if (form === "frame") {
    return new Response(encodeFrame(reply, tensors), { headers: { ...headers, "content-type": FRAME_MEDIA_TYPE } });
  }
  return answerTensors(tensors, (outputs) => ({ ...reply, outputs }), headers);
}

/** The split as a Server-Timing header (W3C Server Timing), in milliseconds. */
function serverTiming(latency: LatencySplit): string {
  return Object.entries(latency)
    .map(([part, ms]) => `${part.slice(0, -2)};dur=${ms.toFixed(3)}`)
    .join(", ");
}
