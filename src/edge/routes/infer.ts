import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import { encodeFrame } from "../../protocol/frame.ts";
import {
  FRAME_MEDIA_TYPE,
  InferFrameHeader,
  type InferReply,
  InferRequest,
  type LatencySplit,
  LinkInferHeader,
} from "../../protocol/inference.ts";
import { tensorToJson } from "../../protocol/tensor.ts";
import { projectOfPlacement } from "../budget/placement-project.ts";
import { scopeEnv } from "../config.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { answerInference, type Inference } from "./answer-inference.ts";
import { readFrameRequest, readTensorRequest, type TensorForm } from "./read-tensor-request.ts";

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
