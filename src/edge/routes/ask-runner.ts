import { decodeFrame, encodeFrame, splitTensors } from "../../protocol/frame.ts";
import { createId } from "../../protocol/id.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { InferResult } from "../../protocol/link.ts";
import { createProblem, type Problem, ProblemError } from "../../protocol/problem.ts";
import type { Tensor } from "../../protocol/tensor.ts";
import type { Candidate } from "../budget/choose-placement.ts";
import type { SpanScope } from "../../telemetry/span.ts";
import { formatTraceparent } from "../../telemetry/trace-context.ts";
import { type Attempt, placementWatch } from "../budget/placement-watch.ts";
import type { Env } from "../config.ts";
import type { LinkOutcome } from "../link/in-flight.ts";
import { runnerLink } from "../stubs.ts";
import { untilDeadline } from "./until-deadline.ts";

export type WaitUntil = (work: Promise<unknown>) => void;

/** What a placement is asked, and until when its answer is waited for. */
export interface Question {
  readonly candidate: Pick<Candidate, "placement" | "outlook">;
  readonly tensors: Tensor[];
  /** Where they stand in the request. */
  readonly pointer: string;
  readonly rows: number;
  readonly confidence: number;
  readonly priority: number;
  readonly deadlineAtMs: number;
  /** Whether it is asked for what the edge learns alone. */
  readonly isProbe: boolean;
  /** The span that it is asked within; absent or null where it is not traced. */
  readonly scope?: SpanScope | null;
}

export type RunnerAnswer =
  | (Omit<InferResult, "type" | "tensors"> & {
      readonly kind: "answered";
      readonly tensors: Tensor[];
      readonly roundTripMs: number;
      /** Whether its times are a measurement of the placement; they are not where another backend stood in. */
      readonly isMeasured: boolean;
    })
  /** Nothing came before the deadline. */
  | { readonly kind: "missed" }
  | { readonly kind: "failed"; readonly problem: Problem };

/**
 * Sends tensors to a placement's runner and waits for the answer until the deadline, and no longer. What
 * is learned of the placement is noted. Throws `payload-too-large` for what no socket would take.
 */
export async function askRunner(env: Env, question: Question, waitUntil: WaitUntil): Promise<RunnerAnswer> {
  const { candidate, rows, deadlineAtMs, isProbe } = question;
  const nowMs = Date.now();
  const leftMs = Math.max(0, deadlineAtMs - nowMs);
  // Its own id for each attempt: a late answer to another is never taken for this one's.
  const requestId = createId("request");
  const frame = encodeQuestion(requestId, question, leftMs);
  const attempt = placementWatch.begin(candidate.placement, rows, candidate.outlook, leftMs, nowMs, isProbe);
  const link = runnerLink(env, candidate.placement.runnerId);
  // An object that was restarted or moved rejects its calls; nobody knows then what the runner did.
  const outcome = link.infer(requestId, frame, leftMs).catch((): LinkOutcome => {
    const problem = createProblem("runner-lost", "The runner's link broke.", { retryAfterMs: 1_000 });
    return { ok: false, heard: false, problem };
  });
  const first = await untilDeadline(leftMs, outcome);
  const answer = readAnswer(first);
  // Whoever has not answered need not go on; not even when only the way to it broke.
  if (first === null || (!first.ok && !first.heard && first.problem.code === "runner-lost"))
    waitUntil(Promise.allSettled([outcome, link.cancelInfer(requestId)]));
  learn(attempt, answer, first);
  return answer;
}

function encodeQuestion(requestId: string, question: Question, budgetMs: number): Uint8Array {
  const { candidate, tensors, pointer, confidence, priority, scope } = question;
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
  const heard = outcome !== null && (outcome.ok || outcome.heard);
  if (!heard && GONE.has(answer.problem.code)) return placementWatch.lost(attempt, nowMs);
  return placementWatch.refused(attempt, { ...answer.problem, heard }, nowMs);
}
