import { createId } from "../../protocol/id.ts";
import { createProblem } from "../../protocol/problem.ts";
import type { Env } from "../config.ts";
import { computeRows, loadNetwork } from "../wasm/edge-networks.ts";
import type { Version } from "../budget/snapshot.ts";
import type { Question, RunnerAnswer } from "./ask-runner.ts";
import { untilDeadline } from "./until-deadline.ts";

/**
 * Answers a question in this isolate, without any hop. The parts of its latency are not told apart: the clock
 * stands still while the network is computed, so all that it shows counts as the edge's.
 */
export async function computeAtEdge(env: Env, version: Version, question: Question): Promise<RunnerAnswer> {
  const leftMs = Math.max(0, question.deadlineAtMs - Date.now());
  return (await untilDeadline(leftMs, compute(env, version, question))) ?? { kind: "missed" };
}

async function compute(env: Env, version: Version, { candidate, tensors }: Question): Promise<RunnerAnswer> {
  const [tensor] = tensors;
  const network = await loadNetwork(env, version, candidate.placement.variant).catch(() => null);
  if (network === null || tensor === undefined) return { kind: "failed", problem: NOT_LOADED };
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
}

/** Whatever keeps the weights from this isolate does not keep a runner from answering. */
const NOT_LOADED = createProblem("no-placement", "The edge could not load the model.", { retryAfterMs: 1_000 });
