import { createId } from "../../protocol/id.ts";
import { ProblemError } from "../../protocol/problem.ts";
import type { Env } from "../config.ts";
import { computeRows, loadNetwork } from "../wasm/edge-networks.ts";
import type { Version } from "../budget/snapshot.ts";
import type { Question, RunnerAnswer } from "./ask-runner.ts";

/**
 * Answers a question in this isolate, without any hop. The parts of its latency are not told apart: the clock
 * stands still while the network is computed, so all that it shows counts as the edge's.
 */
export async function computeAtEdge(env: Env, version: Version, question: Question): Promise<RunnerAnswer> {
  const leftMs = Math.max(0, question.deadlineAtMs - Date.now());
  const late = scheduler.wait(leftMs).then((): RunnerAnswer => ({ kind: "missed" }));
  return Promise.race([compute(env, version, question), late]);
}

async function compute(env: Env, version: Version, { candidate, tensors }: Question): Promise<RunnerAnswer> {
  try {
    const network = await loadNetwork(env, version, candidate.placement.variant);
    const [tensor] = tensors;
    if (tensor === undefined) throw new ProblemError("backend-failed", "The request has no input.");
    return {
      kind: "answered",
      requestId: createId("request"),
      times: { queueMs: 0, uploadMs: 0, computeMs: 0, readbackMs: 0 },
      rows: 1,
      backlogMs: 0,
      tensors: [computeRows(network, tensor)],
      roundTripMs: 0,
      isMeasured: false,
    };
  } catch (error) {
    if (error instanceof ProblemError) return { kind: "failed", problem: error.problem };
    throw error;
  }
}
