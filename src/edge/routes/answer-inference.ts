import { decodeFrame, encodeFrame, splitTensors } from "../../protocol/frame.ts";
import { createId } from "../../protocol/id.ts";
import type { InferReply, InferReplyHeader, LatencySplit } from "../../protocol/inference.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { InferResult } from "../../protocol/link.ts";
import { createProblem, PROBLEMS, type Problem, ProblemError } from "../../protocol/problem.ts";
import type { Tensor } from "../../protocol/tensor.ts";
import type { Candidate } from "../budget/choose-placement.ts";
import { logOutcome } from "../budget/outcome-log.ts";
import { noteOverhead } from "../budget/overhead-window.ts";
import type { Env } from "../config.ts";
import type { LinkOutcome } from "../link/in-flight.ts";
import { runnerLink } from "../stubs.ts";
import { type Admission, admitRequest, budgetExceeded, type InferInput } from "./admit-request.ts";
import { beforeDeadline, DEADLINE } from "./before-deadline.ts";
import { computeAtEdge } from "./compute-at-edge.ts";

export type WaitUntil = (work: Promise<unknown>) => void;

/** An answered inference: everything of its reply but the form. */
export interface Inference {
  readonly reply: Omit<InferReplyHeader, "tensors">;
  readonly tensors: Tensor[];
}

/** What a request was computed to, and how long that took. */
interface Computed extends Pick<InferResult, "faults" | "rows"> {
  readonly latency: LatencySplit;
  readonly tensors: Tensor[];
}

/** Admits, sends, answers; at the deadline whatever the runner does. The way of every inference. */
export async function answerInference(
  env: Env,
  input: InferInput,
  arrivedAtMs: number,
  waitUntil: WaitUntil,
): Promise<Inference> {
  const admission = await beforeDeadline(admitRequest(env, input, arrivedAtMs, waitUntil), input, arrivedAtMs);
  if (admission === DEADLINE) throw budgetExceeded(arrivedAtMs);
  const requestId = createId("request");
  const { latency, tensors, rows, faults }: Computed =
    admission.candidate.placement.backend === "edge-wasm"
      ? await computeAtEdge(env, input, admission, arrivedAtMs, waitUntil)
      : finish(
          env,
          admission,
          await send(env, requestId, input, admission, arrivedAtMs, waitUntil),
          arrivedAtMs,
          waitUntil,
        );
  const reply = {
    requestId,
    model: admission.model,
    version: admission.version,
    placement: describePlacement(admission.candidate, rows),
    latency,
    prediction: { confidence: input.confidence, ...admission.candidate.prediction },
    budgetMs: input.budgetMs,
    budgetMet: latency.totalMs <= input.budgetMs,
    ...(faults && { faults }),
  };
  return { reply, tensors };
}

/** Sends the tensors to the runner and waits until the budget ends, and no longer. */
async function send(
  env: Env,
  requestId: string,
  input: InferInput,
  { candidate }: Admission,
  arrivedAtMs: number,
  waitUntil: WaitUntil,
): Promise<LinkOutcome | typeof DEADLINE> {
  const { runnerId, modelVersionId, variant, deviceKey, backend } = candidate.placement;
  const { confidence, priority } = input;
  const leftMs = Math.max(0, input.budgetMs - (Date.now() - arrivedAtMs));
  const place = { modelVersionId, variant, deviceKey, backend };
  const offer = { type: "infer", requestId, ...place, budgetMs: leftMs, confidence, priority };
  const frame = encodeFrame(offer, input.tensors);
  if (frame.byteLength > LIMITS.socketMessageBytes) {
    throw new ProblemError("payload-too-large", `The inputs are larger than ${LIMITS.socketMessageBytes} bytes.`, {
      errors: [{ pointer: input.pointerOf(""), message: `must be at most ${LIMITS.socketMessageBytes} bytes in all` }],
    });
  }
  const link = runnerLink(env, runnerId);
  // An object that was restarted or moved rejects its calls; nobody knows then what the runner did.
  const answer = link.infer(requestId, frame, leftMs).catch((): LinkOutcome => {
    const problem = createProblem("runner-lost", "The runner's link broke.", { retryAfterMs: 1_000 });
    return { ok: false, problem };
  });
  const outcome = await beforeDeadline<LinkOutcome>(answer, input, arrivedAtMs);
  if (outcome === DEADLINE) waitUntil(Promise.allSettled([answer, link.cancelInfer(requestId)]));
  return outcome;
}

/** Splits the latency, keeps what was measured, and turns what failed into its problem. */
function finish(
  env: Env,
  { subject, candidate }: Admission,
  outcome: LinkOutcome | typeof DEADLINE,
  arrivedAtMs: number,
  waitUntil: WaitUntil,
): Computed {
  const totalMs = Date.now() - arrivedAtMs;
  const { runnerId, variant, backend, software, fingerprint } = candidate.placement;
  const about = { subject, variant, backend, batch: 1, software, fingerprint, totalMs };
  const result = outcome !== DEADLINE && outcome.ok ? readResult(outcome.answer) : null;
  if (outcome === DEADLINE || !outcome.ok || result === null) {
    logOutcome(env, runnerId, { ...about, split: null }, waitUntil);
    if (outcome === DEADLINE) throw budgetExceeded(arrivedAtMs);
    throw outcome.ok ? new ProblemError("backend-failed", UNREADABLE) : runnerProblem(outcome.problem);
  }
  const { times, tensors, rows, faults } = result;
  const serviceMs = times.queueMs + times.uploadMs + times.computeMs + times.readbackMs;
  const linkMs = Math.max(0, outcome.roundTripMs - serviceMs);
  const edgeMs = Math.max(0, totalMs - outcome.roundTripMs);
  noteOverhead(runnerId, Math.max(0, totalMs - serviceMs), Date.now());
  // What a device did that stood in is no measurement of the placement.
  const standsIn = faults?.some(({ action }) => action === "cpu-backend") ?? false;
  logOutcome(
    env,
    runnerId,
    { ...about, batch: rows, split: standsIn ? null : { edgeMs, linkMs, ...times } },
    waitUntil,
  );
  return { latency: { totalMs, edgeMs, linkMs, ...times }, tensors, rows, ...(faults && { faults }) };
}

/** A runner says what went wrong there; that the caller is at fault it cannot know. */
function runnerProblem(problem: Problem): ProblemError {
  const isRunners = PROBLEMS[problem.code].fault !== "client" && problem.code !== "internal";
  return new ProblemError(isRunners ? problem.code : "backend-failed", problem.detail, problem);
}

const UNREADABLE = "The runner's answer is not of the protocol.";

/** Times and tensors of a runner's frame; null where it is not of the protocol. */
function readResult(
  frame: Uint8Array,
): (Pick<InferResult, "times" | "rows" | "faults"> & { tensors: Tensor[] }) | null {
  const decoded = decodeFrame(frame);
  const header = decoded.ok ? InferResult.safeParse(decoded.header) : null;
  const split = decoded.ok && header?.success ? splitTensors(header.data.tensors, decoded.payload) : null;
  if (!header?.success || !split?.ok) return null;
  const { times, rows, faults } = header.data;
  return { times, rows, tensors: split.tensors, ...(faults && { faults }) };
}

/** A placement as replies name it. */
export function describePlacement({ placement }: Candidate, batch: number): InferReply["placement"] {
  const { id, runnerId, deviceKey, software, variant, backend, fidelity } = placement;
  return { id, runnerId, deviceKey, software, variant, backend, batch, fidelity: fidelity ?? 0 };
}
