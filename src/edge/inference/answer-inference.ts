import type { Fault } from "../../protocol/wire/fault.ts";
import type { InferReply, InferReplyHeader, LatencySplit } from "../../protocol/inference/inference.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { PROBLEMS, type Problem, ProblemError } from "../../protocol/wire/problem.ts";
import type { Tensor } from "../../protocol/wire/tensor.ts";
import { type SpanAttributes, type SpanScope, traced } from "../../telemetry/span.ts";
import type { Candidate } from "./choose-placement.ts";
import { countRefusal, logOutcome } from "./outcome-log.ts";
import { elapsedMs, untilDeadline } from "../clock.ts";
import type { RequestOutcome } from "../history/request-measurements.ts";
import type { LivePlacement } from "../store/fleet/live-placement-store.ts";
import { type Admission, admitRequest, budgetExceeded, confidenceOf, type InferInput } from "./admit-request.ts";
import { askRunner, computeAtEdge, probePlacement, type RunnerAnswer } from "./ask-placement.ts";
import type { InferCall } from "./snapshot.ts";

/** An answered inference: its reply, in no format yet. */
export interface Inference {
  readonly reply: Omit<InferReplyHeader, "tensors">;
  readonly tensors: Tensor[];
}

/**
 * Admits, sends and answers: the path of every inference. Answers by the deadline, whatever the runner does, and counts
 * refusals.
 * A caller that goes away ends the request at the runner, and leaves nothing in the history.
 */
export async function answerInference(call: InferCall, input: InferInput): Promise<Inference> {
  const once = () => answerOnce(call, input);
  const answer = input.isMeasurement === true ? once() : countRefusal(call, input.model, once);
  call.waitUntil(answer.catch(() => undefined));
  return answer;
}

/** Place and manner of a request's loss. */
interface Loss {
  readonly placement: LivePlacement;
  readonly problem: Problem;
}

/** Tries a placement, and once another one where the first was lost during the request and time is left. */
async function answerOnce(call: InferCall, input: InferInput): Promise<Inference> {
  const { arrivedAtMs } = call;
  const first = await admit(call, input, null);
  const tried = await tryPlacement(call, input, first);
  if (tried.kind === "answered") return describe(input, first, tried, null);
  if (tried.kind === "missed") throw raise(budgetExceeded(arrivedAtMs));
  if (tried.kind === "abandoned") throw abandoned();
  if (!ELSEWHERE.has(tried.problem.code)) throw raise(tried.problem);
  const loss = { placement: first.candidate.placement, problem: tried.problem };
  // Without another placement, the caller gets the first problem and not the lack of a placement.
  const second = await admit(call, input, loss).catch((error: unknown) => {
    if (error instanceof ProblemError) return null;
    throw error;
  });
  if (second === null) throw raise(tried.problem);
  const again = await tryPlacement(call, input, second);
  if (again.kind === "answered") return describe(input, second, again, loss);
  if (again.kind === "abandoned") throw abandoned();
  throw raise(again.kind === "missed" ? budgetExceeded(arrivedAtMs) : again.problem);
}

function abandoned(): ProblemError {
  return new ProblemError("cancelled", "The caller has closed the connection.");
}

/**
 * Problems of a placement after which another one is tried. An exceeded budget is not among them: its runner reports
 * it.
 */
const ELSEWHERE = new Set<Problem["code"]>([
  "runner-lost",
  "runner-offline",
  "overloaded",
  "budget-exceeded",
  "device-lost",
  "no-placement",
]);

/** Admission by the deadline; a second one avoids the place where the request was lost. */
async function admit(call: InferCall, input: InferInput, loss: Loss | null): Promise<Admission> {
  const { arrivedAtMs, scope } = call;
  const leftMs = Math.max(0, input.budgetMs - elapsedMs(arrivedAtMs));
  const admitting = traced(scope, "admission", { describe: (found) => describeSpan(found) }, () =>
    loss === null ? admitRequest(call, input) : admitRequest(call, input, (placement) => shares(placement, loss)),
  );
  const admission = await untilDeadline(leftMs, admitting);
  if (admission === null) throw raise(budgetExceeded(arrivedAtMs));
  return admission;
}

/** Whether a placement shares the lost part: the runner, or only the device. */
function shares(placement: LivePlacement, loss: Loss): boolean {
  const isRunnerGone = loss.problem.code === "runner-lost" || loss.problem.code === "runner-offline";
  return (
    placement.runnerId === loss.placement.runnerId && (isRunnerGone || placement.deviceKey === loss.placement.deviceKey)
  );
}

type Answer = Extract<RunnerAnswer, { kind: "answered" }>;
type Tried = (Answer & { readonly latency: LatencySplit }) | Exclude<RunnerAnswer, Answer>;

/** Asks one placement and keeps the measurements. */
async function tryPlacement(call: InferCall, input: InferInput, admission: Admission): Promise<Tried> {
  const { arrivedAtMs } = call;
  const { candidate, version, rows } = admission;
  const { tensors, priority, budgetMs } = input;
  const confidence = confidenceOf(input);
  const passedMs = elapsedMs(arrivedAtMs);
  const deadlineAtMs = Date.now() + budgetMs - passedMs;
  const question = {
    candidate,
    tensors,
    pointer: input.pointerOf(""),
    rows,
    confidence,
    priority,
    refuseWithinMs: Math.max(0, input.refuseWithinMs - passedMs),
    deadlineAtMs,
    isProbe: false,
  };
  const answer = await traceAnswer(call, admission, (scope) => {
    if (candidate.placement.backend === "edge-wasm") return computeAtEdge(call.env, version, question);
    const asked = askRunner(call, { ...question, scope, gone: call.gone });
    // The message is on its way.
    call.leaveThread?.();
    return asked;
  });
  const totalMs = elapsedMs(arrivedAtMs);
  if (answer.kind === "abandoned") return answer;
  const isAnswered = answer.kind === "answered";
  const attempt = describeAttempt(input, admission, totalMs, isAnswered);
  const outcome = { ...attempt, totalMs, rows: isAnswered ? rows : null };
  const keep = (more: Pick<RequestOutcome, "split"> & Partial<RequestOutcome>) => {
    if (input.isMeasurement === true) return;
    logOutcome(call, candidate.placement.runnerId, { ...outcome, ...more });
  };
  if (answer.kind !== "answered") {
    keep({ split: null });
    if (answer.kind === "missed") probePlacement(call, candidate.placement, version.inputs, "silent");
    return answer;
  }
  const latency = splitLatency(answer, totalMs);
  keep({ batch: answer.rows, split: answer.isMeasured ? latency : null });
  return { ...answer, latency };
}

/**
 * An attempt as a span: the round trip to a runner, or the computation at the edge, during which its clock does not
 * advance.
 */
function traceAnswer(
  { scope }: InferCall,
  admission: Admission,
  work: (scope: SpanScope | null) => Promise<RunnerAnswer>,
): Promise<RunnerAnswer> {
  const isHere = admission.candidate.placement.backend === "edge-wasm";
  const { attributes } = describeSpan(admission);
  return isHere
    ? traced(scope, "compute", { attributes: { ...attributes, "millrace.timed": false }, describe: toError }, work)
    : traced(scope, "link", { kind: "client", attributes, describe: toError }, work);
}

function toError(answer: RunnerAnswer): { error?: string } {
  if (answer.kind === "answered") return {};
  if (answer.kind === "abandoned") return { error: "cancelled" };
  return { error: answer.kind === "missed" ? "budget-exceeded" : answer.problem.code };
}

/** Attributes of a request's target in spans. */
function describeSpan({ version, candidate: { placement } }: Admission): { attributes: SpanAttributes } {
  return {
    attributes: {
      "millrace.model": `${version.model}@${version.version}`,
      "millrace.placement": placement.id,
      "millrace.runner": placement.runnerId,
      "millrace.device": placement.deviceKey,
      "millrace.variant": placement.variant,
      "millrace.backend": placement.backend,
    },
  };
}

/** Record of an attempt in the history, however it ended. */
function describeAttempt(
  { confidence, budgetMs, onMiss }: InferInput,
  { version, candidate, rows, fits }: Admission,
  totalMs: number,
  isAnswered: boolean,
) {
  const { id, variant, backend, software, fingerprint, configuration } = candidate.placement;
  const { latencyMs } = candidate.prediction;
  const forecast = {
    placementId: id,
    confidence,
    inTime: isAnswered && totalMs <= budgetMs,
    asPredicted: isAnswered && totalMs <= latencyMs,
  };
  const subject = `${version.model}@${version.version}`;
  // A best effort has no prediction to judge, and the clock does not advance while the edge computes.
  const isJudged = fits && onMiss === "reject" && backend !== "edge-wasm";
  const place = { variant, backend, software, fingerprint, configuration };
  return { project: version.project, subject, ...place, batch: rows, forecast: isJudged ? forecast : null };
}

function splitLatency({ times, roundTripMs }: Answer, totalMs: number): LatencySplit {
  const runnerMs = times.queueMs + times.uploadMs + times.computeMs + times.readbackMs;
  const linkMs = Math.max(0, roundTripMs - runnerMs);
  const edgeMs = Math.max(0, totalMs - roundTripMs);
  return { totalMs, edgeMs, linkMs, ...times };
}

/** Problem that a runner reported. It cannot know that the caller is at fault. */
function raise(problem: Problem): ProblemError {
  const isRunners = PROBLEMS[problem.code].fault !== "client" && problem.code !== "internal";
  return new ProblemError(isRunners ? problem.code : "backend-failed", problem.detail, problem);
}

function describe(
  { confidence, budgetMs }: InferInput,
  { version, candidate, passedOver }: Admission,
  answer: Extract<Tried, { kind: "answered" }>,
  loss: Loss | null,
): Inference {
  const { requestId, latency, tensors, rows } = answer;
  const faults = [...(loss === null ? [] : [toFault(loss)]), ...(answer.faults ?? [])].slice(0, LIMITS.faults);
  const reply = {
    requestId,
    model: version.model,
    version: version.version,
    placement: describePlacement(candidate, rows),
    latency,
    prediction: { confidence, ...candidate.prediction },
    budgetMs,
    budgetMet: latency.totalMs <= budgetMs,
    ...(passedOver !== null && { passedOver: describePassedOver(passedOver) }),
    ...(faults.length > 0 && { faults }),
  };
  return { reply, tensors };
}

function toFault({ placement, problem: { code, detail } }: Loss): Fault {
  return { code, detail: `${placement.id}: ${detail}`, action: "retried-elsewhere" };
}

function describePassedOver({ placement, prediction }: Candidate): InferReply["passedOver"] {
  const { id: placementId, variant, fidelity } = placement;
  return { placementId, variant, fidelity: fidelity ?? 0, latencyMs: prediction.latencyMs };
}

/** A placement as replies name it. */
export function describePlacement({ placement }: Candidate, batch: number): InferReply["placement"] {
  const { id, runnerId, deviceKey, software, variant, backend, fidelity } = placement;
  return { id, runnerId, deviceKey, software, variant, backend, batch, fidelity: fidelity ?? 0 };
}
