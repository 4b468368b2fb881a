import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import { decodeFrame, encodeFrame, splitTensors } from "../../protocol/frame.ts";
import { createId } from "../../protocol/id.ts";
import {
  FRAME_MEDIA_TYPE,
  type InferReply,
  type InferReplyHeader,
  type LatencySplit,
} from "../../protocol/inference.ts";
import { InferResult } from "../../protocol/link.ts";
import { ProblemError } from "../../protocol/problem.ts";
import { type Tensor, tensorToJson } from "../../protocol/tensor.ts";
import { type Candidate, choosePlacement } from "../budget/choose-placement.ts";
import { matchInputs } from "../budget/match-inputs.ts";
import { logOutcome } from "../budget/outcome-log.ts";
import { noteOverhead, recentOverhead } from "../budget/overhead-window.ts";
import { predictLatencyMs } from "../budget/predict-latency.ts";
import { currentSnapshot, findVersion, refreshSnapshot, type Snapshot } from "../budget/snapshot.ts";
import type { Env } from "../config.ts";
import { type AppEnv, bind, invalidRequest } from "../http/bind.ts";
import type { LinkOutcome } from "../link/in-flight.ts";
import { runnerLink } from "../stubs.ts";
import { type InferInput, readInferRequest } from "./read-infer-request.ts";

type WaitUntil = (work: Promise<unknown>) => void;

interface Admission {
  readonly subject: string;
  readonly model: string;
  readonly version: number;
  readonly candidate: Candidate;
}

/** `POST /v1/infer`: read, admit, send, answer; at the deadline whatever the runner does. */
export function bindInfer(app: Hono<AppEnv>): void {
  bind(app, endpoints.infer, async ({ c, env }) => {
    const arrivedAtMs = c.get("arrivedAtMs");
    const waitUntil: WaitUntil = (work) => c.executionCtx.waitUntil(work);
    const input = await readInferRequest(c.req.raw);
    const admission = await admit(env, input, arrivedAtMs, waitUntil);
    const requestId = createId("request");
    const outcome = await send(env, requestId, input, admission, arrivedAtMs, waitUntil);
    const answered = finish(env, admission, outcome, arrivedAtMs, waitUntil);
    const reply = {
      requestId,
      model: admission.model,
      version: admission.version,
      placement: describePlacement(admission.candidate),
      latency: answered.latency,
      prediction: { confidence: input.confidence, latencyMs: admission.candidate.predictedMs },
      budgetMs: input.budgetMs,
      budgetMet: answered.latency.totalMs <= input.budgetMs,
    };
    return toResponse(input.form, reply, answered.tensors);
  });
}

/** Finds the version and a placement whose prediction fits what is left of the budget. */
async function admit(env: Env, input: InferInput, arrivedAtMs: number, waitUntil: WaitUntil): Promise<Admission> {
  let snapshot = await currentSnapshot(env, waitUntil);
  // A model that was uploaded or placed a moment ago is not in an aged snapshot.
  if (placementsOf(snapshot, input).length === 0) snapshot = await refreshSnapshot(env);
  const version = findVersion(snapshot, input.model);
  if (version === null) {
    const errors = [{ pointer: "#/model", message: "is not a model that was uploaded" }];
    throw new ProblemError("not-found", `There is no model ${input.model}.`, { errors });
  }
  const errors = matchInputs(version.inputs, input.tensors, input.pointerOf);
  if (errors.length > 0) throw invalidRequest(errors);
  const leftMs = input.budgetMs - (Date.now() - arrivedAtMs);
  const choice = choosePlacement(placementsOf(snapshot, input), leftMs, (placement) =>
    predictLatencyMs(placement, recentOverhead(placement.runnerId), input.confidence),
  );
  switch (choice.kind) {
    case "admitted":
      return {
        subject: `${version.model}@${version.version}`,
        model: version.model,
        version: version.version,
        candidate: choice.candidate,
      };
    case "unattainable":
      throw unattainable(input, choice.nearest);
    case "offline":
      throw new ProblemError("runner-offline", `Every runner that serves ${input.model} is offline or draining.`, {
        retryAfterMs: 1_000,
      });
    case "none":
      throw new ProblemError("no-placement", `No runner was calibrated for ${input.model} yet.`, {
        retryAfterMs: 2_000,
      });
  }
}

function placementsOf(snapshot: Snapshot, input: InferInput) {
  const version = findVersion(snapshot, input.model);
  const placements = version === null ? [] : (snapshot.placements.get(version.id) ?? []);
  return input.runnerId === undefined ? placements : placements.filter(({ runnerId }) => runnerId === input.runnerId);
}

function unattainable(input: InferInput, nearest: Candidate): ProblemError {
  const { placement, predictedMs } = nearest;
  const fits = {
    budgetMs: Math.ceil(predictedMs * 100) / 100,
    placementId: placement.id,
    variant: placement.variant,
    confidence: input.confidence,
  };
  const detail = `The fastest placement needs ${fits.budgetMs} ms at a confidence of ${input.confidence}; the budget is ${input.budgetMs} ms.`;
  return new ProblemError("budget-unattainable", detail, {
    errors: [{ pointer: "#/budgetMs", message: `must be at least ${fits.budgetMs}` }],
    fits,
  });
}

/** Sends the tensors to the runner and waits until the budget ends, and no longer. */
async function send(
  env: Env,
  requestId: string,
  input: InferInput,
  { candidate }: Admission,
  arrivedAtMs: number,
  waitUntil: WaitUntil,
): Promise<LinkOutcome | "deadline"> {
  const { runnerId, modelVersionId, deviceKey, backend } = candidate.placement;
  const leftMs = Math.max(0, input.budgetMs - (Date.now() - arrivedAtMs));
  const offer = { type: "infer", requestId, modelVersionId, deviceKey, backend, budgetMs: leftMs };
  const link = runnerLink(env, runnerId);
  const answer: Promise<LinkOutcome> = link.infer(requestId, encodeFrame(offer, input.tensors), leftMs);
  const deadline = scheduler.wait(leftMs).then(() => "deadline" as const);
  const outcome = await Promise.race([answer, deadline]);
  if (outcome === "deadline") waitUntil(Promise.allSettled([answer, link.cancelInfer(requestId)]));
  return outcome;
}

/** Splits the latency, keeps what was measured, and turns what failed into its problem. */
function finish(
  env: Env,
  { subject, candidate }: Admission,
  outcome: LinkOutcome | "deadline",
  arrivedAtMs: number,
  waitUntil: WaitUntil,
): { latency: LatencySplit; tensors: Tensor[] } {
  const totalMs = Date.now() - arrivedAtMs;
  const { runnerId, variant, backend, batch, software, fingerprint } = candidate.placement;
  const about = { subject, variant, backend, batch, software, fingerprint, totalMs };
  if (outcome === "deadline" || !outcome.ok) {
    logOutcome(env, runnerId, { ...about, split: null }, waitUntil);
    if (outcome === "deadline")
      throw new ProblemError("budget-exceeded", `No answer came within the budget; ${totalMs} ms have passed.`);
    throw new ProblemError(outcome.problem.code, outcome.problem.detail, outcome.problem);
  }
  const { times, tensors } = readResult(outcome.frame);
  const serviceMs = times.queueMs + times.uploadMs + times.computeMs + times.readbackMs;
  const linkMs = Math.max(0, outcome.roundTripMs - serviceMs);
  const edgeMs = Math.max(0, totalMs - outcome.roundTripMs);
  noteOverhead(runnerId, Math.max(0, totalMs - serviceMs), Date.now());
  const { queueMs, computeMs } = times;
  logOutcome(env, runnerId, { ...about, split: { edgeMs, linkMs, queueMs, computeMs } }, waitUntil);
  return { latency: { totalMs, edgeMs, linkMs, ...times }, tensors };
}

function readResult(frame: Uint8Array): { times: InferResult["times"]; tensors: Tensor[] } {
  const decoded = decodeFrame(frame);
  const header = decoded.ok ? InferResult.safeParse(decoded.header) : null;
  const split = decoded.ok && header?.success ? splitTensors(header.data.tensors, decoded.payload) : null;
  if (!header?.success || !split?.ok)
    throw new ProblemError("backend-failed", "The runner's answer is not of the protocol.");
  return { times: header.data.times, tensors: split.tensors };
}

function describePlacement({ placement }: Candidate): InferReply["placement"] {
  const { id, runnerId, deviceKey, software, variant, backend, batch } = placement;
  return { id, runnerId, deviceKey, software, variant, backend, batch };
}

function toResponse(form: InferInput["form"], reply: Omit<InferReplyHeader, "tensors">, tensors: Tensor[]): Response {
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
