import { InferResult } from "../../protocol/link.ts";
import { createSeededInputs } from "../../protocol/models/model-inputs.ts";
import type { TensorSpec } from "../../protocol/models/model.ts";
import { decodeFrame, encodeFrame, splitTensors } from "../../protocol/wire/frame.ts";
import { createId } from "../../protocol/wire/id.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { createProblem, type Problem, ProblemError } from "../../protocol/wire/problem.ts";
import type { Tensor } from "../../protocol/wire/tensor.ts";
import type { SpanScope } from "../../telemetry/span.ts";
import { formatTraceparent } from "../../telemetry/trace-context.ts";
import { untilDeadline } from "../clock.ts";
import { type Env, runnerLink } from "../config.ts";
import type { LinkOutcome } from "../link/link-rpc.ts";
import type { LivePlacement } from "../store/fleet/live-placement-store.ts";
import type { Candidate } from "./choose-placement.ts";
import { PROBE_MS } from "./predict/device-watch.ts";
import { type Attempt, placementWatch } from "./predict/placement-watch.ts";
import type { ProjectCall, Version } from "./snapshot.ts";
import { computeRows, loadNetwork } from "./wasm/edge-networks.ts";

/** Question to a placement, with the deadline of its answer. */
interface Question {
  readonly candidate: Pick<Candidate, "placement" | "outlook">;
  readonly tensors: Tensor[];
  /** Place of the tensors in the request. */
  readonly pointer: string;
  readonly rows: number;
  readonly confidence: number;
  readonly priority: number;
  /** Time from now within which a refusal is early enough; 0 for at once. */
  readonly refuseWithinMs: number;
  readonly deadlineAtMs: number;
  /** Set for a request of the edge's own, whose outcome only updates the predictions. */
  readonly isProbe: boolean;
  /** The question's span, as the parent of further spans; absent or null without tracing. */
  readonly scope?: SpanScope | null;
  /** Aborted once the caller has gone; absent for a request of the edge's own. */
  readonly gone?: AbortSignal | undefined;
}

export type RunnerAnswer =
  | (Omit<InferResult, "type" | "tensors"> & {
      readonly kind: "answered";
      readonly tensors: Tensor[];
      readonly roundTripMs: number;
      /** Whether its times measure the placement; they do not where another backend stood in. */
      readonly isMeasured: boolean;
    })
  /** Nothing came before the deadline. */
  | { readonly kind: "missed" }
  /** The caller went away first. */
  | { readonly kind: "abandoned" }
  | { readonly kind: "failed"; readonly problem: Problem };

/**
 * Sends tensors to a placement's runner, waits for the answer until the deadline or until the caller has gone, and
 * notes the outcome in the placement watch.
 * Throws `payload-too-large` for a message that no socket accepts.
 */
export async function askRunner({ env, waitUntil }: ProjectCall, question: Question): Promise<RunnerAnswer> {
  const { candidate, rows, deadlineAtMs, isProbe, gone } = question;
  const isGone = () => gone?.aborted === true;
  if (isGone()) return ABANDONED;
  const nowMs = Date.now();
  const leftMs = Math.max(0, deadlineAtMs - nowMs);
  // Each attempt has an id of its own, so that a late answer to another one never matches.
  const requestId = createId("request");
  const frame = encodeQuestion(requestId, question, leftMs);
  const attempt = placementWatch.begin(candidate.placement, rows, candidate.outlook, leftMs, nowMs, isProbe);
  const link = runnerLink(env, candidate.placement.runnerId);
  // An object that was restarted or moved rejects its calls; the runner's outcome is then unknown.
  const outcome = link.infer(requestId, frame, leftMs, env.project).catch((): LinkOutcome => {
    const problem = createProblem("runner-lost", "The runner's link broke.", { retryAfterMs: 1_000 });
    return { ok: false, heard: false, problem };
  });
  const first = await untilDeadline(leftMs, outcome, gone);
  const answer = first === null && isGone() ? ABANDONED : readAnswer(first);
  // Cancel the request at a runner that has not answered, even where only its connection broke.
  if (first === null || (!first.ok && !first.heard && first.problem.code === "runner-lost"))
    waitUntil(Promise.allSettled([outcome, link.cancelInfer(requestId)]));
  learn(attempt, answer, first);
  return answer;
}

const ABANDONED: RunnerAnswer = { kind: "abandoned" };

function encodeQuestion(requestId: string, question: Question, budgetMs: number): Uint8Array {
  const { candidate, tensors, pointer, confidence, priority, scope } = question;
  // The refusal has to come back, too.
  const refuseWithinMs = question.refuseWithinMs - candidate.outlook.linkMs;
  const { modelVersionId, variant, deviceKey, backend } = candidate.placement;
  const offer = {
    type: "infer",
    requestId,
    modelVersionId,
    variant,
    deviceKey,
    backend,
    budgetMs,
    confidence,
    priority,
    ...(refuseWithinMs > 0 && { refuseWithinMs }),
    ...(scope && { traceparent: formatTraceparent(scope.context) }),
  };
  const frame = encodeFrame(offer, tensors);
  if (frame.byteLength > LIMITS.socketMessageBytes) {
    throw new ProblemError("payload-too-large", `The inputs are larger than ${LIMITS.socketMessageBytes} bytes.`, {
      errors: [{ pointer, message: `must be at most ${LIMITS.socketMessageBytes} bytes in all` }],
    });
  }
  return frame;
}

function readAnswer(outcome: LinkOutcome | null): RunnerAnswer {
  if (outcome === null) return { kind: "missed" };
  if (!outcome.ok) {
    const { heard, problem } = outcome;
    return !heard && problem.code === "budget-exceeded" ? { kind: "missed" } : { kind: "failed", problem };
  }
  const decoded = decodeFrame(outcome.answer);
  const header = decoded.ok ? InferResult.safeParse(decoded.header) : null;
  const split = decoded.ok && header?.success ? splitTensors(header.data.tensors, decoded.payload) : null;
  if (!header?.success || !split?.ok) return { kind: "failed", problem: createProblem("backend-failed", UNREADABLE) };
  const { type: _, ...result } = header.data;
  const isMeasured = result.faults?.every(({ action }) => action !== "cpu-backend") ?? true;
  return { kind: "answered", ...result, tensors: split.tensors, roundTripMs: outcome.roundTripMs, isMeasured };
}

const UNREADABLE = "The runner's answer is not of the protocol.";
const GONE = new Set<Problem["code"]>(["runner-lost", "runner-offline"]);

function learn(attempt: Attempt, answer: RunnerAnswer, outcome: LinkOutcome | null): void {
  const nowMs = Date.now();
  if (answer.kind === "answered") return placementWatch.answered(attempt, answer, nowMs);
  if (answer.kind === "missed") return placementWatch.missed(attempt, nowMs);
  if (answer.kind === "abandoned") return placementWatch.abandoned(attempt, nowMs);
  const heard = outcome !== null && (outcome.ok || outcome.heard);
  if (!heard && GONE.has(answer.problem.code)) return placementWatch.lost(attempt, nowMs);
  return placementWatch.refused(attempt, { ...answer.problem, heard }, nowMs);
}

/**
 * Answers a question in this isolate, without any hop. The whole latency counts as the edge's: the clock does not
 * advance during the computation, so its parts cannot be separated.
 */
export async function computeAtEdge(env: Env, version: Version, question: Question): Promise<RunnerAnswer> {
  const leftMs = Math.max(0, question.deadlineAtMs - Date.now());
  return (await untilDeadline(leftMs, compute(env, version, question))) ?? { kind: "missed" };
}

async function compute(env: Env, version: Version, { candidate, tensors, rows }: Question): Promise<RunnerAnswer> {
  const [tensor] = tensors;
  const network = await loadNetwork(env, version, candidate.placement.variant).catch(() => null);
  if (network === null || tensor === undefined) return { kind: "failed", problem: NOT_LOADED };
  return {
    kind: "answered",
    requestId: createId("request"),
    times: { queueMs: 0, uploadMs: 0, computeMs: 0, readbackMs: 0 },
    rows,
    backlogMs: 0,
    tensors: [computeRows(network, tensor)],
    roundTripMs: 0,
    isMeasured: false,
  };
}

/** The fault that keeps the weights from this isolate does not affect a runner. */
const NOT_LOADED = createProblem("no-placement", "The edge could not load the model.", { retryAfterMs: 1_000 });

/** Interval of probes of a device that answers: they may take a tenth of its time. That of any other is `PROBE_MS`. */
const SLOW_PROBE_MS = 50;
const SLOW_PROBE_SERVICES = 10;
const CONFIDENCE = 0.5;

/**
 * Probes a placement behind a request, so that no caller's request is at risk.
 * A silent placement returns as soon as it answers, a rested one is warm for the next caller, and a slow one is soon
 * known to be fast again.
 */
export function probePlacement(
  call: ProjectCall,
  asked: LivePlacement,
  inputs: readonly TensorSpec[],
  reason: "silent" | "cold" | "slow",
): void {
  // The generated inputs are of the measured size, and so are the times that they take.
  const placement = asked.measured ?? asked;
  // The edge need not probe itself.
  if (placement.backend === "edge-wasm") return;
  const nowMs = Date.now();
  const outlook = placementWatch.outlook(placement, 1, CONFIDENCE, nowMs);
  const slowMs = Math.max(SLOW_PROBE_MS, SLOW_PROBE_SERVICES * outlook.medianServiceMs);
  const isSoon = reason === "slow" || (reason === "silent" && placementWatch.wasHeardSinceProbe(placement));
  if (!placementWatch.takeProbe(placement, isSoon ? slowMs : PROBE_MS, nowMs)) return;
  const question = {
    candidate: { placement, outlook },
    tensors: createSeededInputs(inputs, 0),
    pointer: "",
    rows: 1,
    confidence: CONFIDENCE,
    priority: 0,
    refuseWithinMs: 0,
    deadlineAtMs: nowMs + PROBE_MS,
    isProbe: true,
  };
  // `askRunner` notes the outcome; inputs that no frame can hold leave it unknown.
  call.waitUntil(askRunner(call, question).catch(() => undefined));
}
