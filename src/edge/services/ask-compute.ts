import { type ComputeOffer, ComputeResult } from "../../protocol/inference/compute.ts";
import type { LatencySplit } from "../../protocol/inference/inference.ts";
import { decodeFrame, encodeFrame, splitTensors } from "../../protocol/wire/frame.ts";
import { createId } from "../../protocol/wire/id.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { createProblem, type Problem, ProblemError } from "../../protocol/wire/problem.ts";
import type { Tensor } from "../../protocol/wire/tensor.ts";
import { ageMs, elapsedMs } from "../clock.ts";
import { configOf, type ProjectEnv, runnerLink } from "../config.ts";
import type { LinkOutcome } from "../link/link-rpc.ts";
import { openProject } from "../store/database.ts";
import { readConnectedRunners } from "../store/fleet/runner-store.ts";
import { chooseRunners, type ComputeRunner, toComputeRunner } from "./choose-runners.ts";

interface Reading {
  readonly readAtMs: number;
  readonly runners: readonly ComputeRunner[];
}

/** Projects whose runners this isolate keeps. */
const KEPT_PROJECTS = 100;
const readings = new Map<string, Reading>();

/** The connected runners that work for the project, from this isolate's last reading, at most a snapshot's age ago. */
async function connectedRunners(env: ProjectEnv): Promise<readonly ComputeRunner[]> {
  const known = readings.get(env.project);
  if (known !== undefined && ageMs(known.readAtMs) <= configOf(env).snapshotMs) return known.runners;
  const readAtMs = Date.now();
  const connected = await readConnectedRunners(openProject(env));
  const runners = connected.map(({ id, labels, capabilities }) => toComputeRunner(id, labels, capabilities));
  if (readings.size >= KEPT_PROJECTS) readings.delete(readings.keys().next().value!);
  readings.set(env.project, { readAtMs, runners });
  return runners;
}

/** Forgets the connected runners, as a new isolate would. */
export function forgetConnectedRunners(): void {
  readings.clear();
}

/** A kernel for a runner to compute within a budget. */
export interface ComputeQuestion extends Pick<ComputeOffer, "kernel" | "shape" | "seed" | "resident"> {
  readonly tensors: readonly Tensor[];
  readonly budgetMs: number;
  readonly runnerId?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Key under which a runner may cache an input. */
  readonly key: string;
}

/** Result of a runner's computation. */
export interface ComputeAnswer extends Omit<ComputeResult, "type" | "times" | "tensors"> {
  readonly runnerId: string;
  readonly latency: LatencySplit;
  readonly tensors: Tensor[];
}

/** Failures of a runner after which another runner is asked. */
const ELSEWHERE: ReadonlySet<Problem["code"]> = new Set(["runner-offline", "runner-lost", "overloaded", "device-lost"]);
/** Number of runners that are asked in turn. */
const MOST_ASKED = 2;

/**
 * Has a runner compute one of its kernels, and another runner where the first is gone.
 * Throws `no-placement` where no connected runner has the kernel, `budget-exceeded` at the deadline, else the runner's
 * problem.
 */
export async function askCompute(
  env: ProjectEnv,
  question: ComputeQuestion,
  arrivedAtMs: number,
): Promise<ComputeAnswer> {
  const runners = chooseRunners(await connectedRunners(env), question, question.key).slice(0, MOST_ASKED);
  let problem = createProblem("no-placement", `No connected runner that may be asked computes ${question.kernel}.`, {
    retryAfterMs: 1_000,
  });
  for (const { id: runnerId } of runners) {
    const leftMs = question.budgetMs - elapsedMs(arrivedAtMs);
    if (leftMs <= 0) break;
    const outcome = await ask(env, runnerId, question, leftMs);
    if (outcome.ok) return readAnswer(outcome, runnerId, arrivedAtMs);
    ({ problem } = outcome);
    if (!ELSEWHERE.has(problem.code)) break;
  }
  throw new ProblemError(problem.code, problem.detail, problem);
}

/** An object that was restarted or moved rejects its calls. */
async function ask(env: ProjectEnv, runnerId: string, question: ComputeQuestion, leftMs: number): Promise<LinkOutcome> {
  const { kernel, shape, seed, resident, tensors } = question;
  const requestId = createId("request");
  const frame = encodeFrame({ type: "compute", requestId, kernel, shape, seed, resident }, tensors);
  if (frame.byteLength > LIMITS.socketMessageBytes) {
    throw new ProblemError("payload-too-large", `The inputs are larger than ${LIMITS.socketMessageBytes} bytes.`);
  }
  return runnerLink(env, runnerId)
    .infer(requestId, frame, leftMs, env.project)
    .catch((): LinkOutcome => {
      const problem = createProblem("runner-lost", "The runner's link broke.", { retryAfterMs: 1_000 });
      return { ok: false, heard: false, problem };
    });
}

function readAnswer(
  { answer, roundTripMs }: Extract<LinkOutcome, { ok: true }>,
  runnerId: string,
  arrivedAtMs: number,
): ComputeAnswer {
  const decoded = decodeFrame(answer);
  const header = decoded.ok ? ComputeResult.safeParse(decoded.header) : null;
  const split = decoded.ok && header?.success ? splitTensors(header.data.tensors, decoded.payload) : null;
  if (!header?.success || !split?.ok) {
    throw new ProblemError("backend-failed", "The runner's answer is not of the protocol.");
  }
  const { type: _, times, tensors: __, ...computed } = header.data;
  const totalMs = elapsedMs(arrivedAtMs);
  const servedMs = times.queueMs + times.uploadMs + times.computeMs + times.readbackMs;
  const linkMs = Math.max(0, roundTripMs - servedMs);
  const latency = { totalMs, edgeMs: Math.max(0, totalMs - roundTripMs), linkMs, ...times };
  return { ...computed, runnerId, latency, tensors: split.tensors };
}
