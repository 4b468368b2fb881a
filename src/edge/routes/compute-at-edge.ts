import type { LatencySplit } from "../../protocol/inference.ts";
import { ProblemError } from "../../protocol/problem.ts";
import type { Tensor } from "../../protocol/tensor.ts";
import { logOutcome } from "../budget/outcome-log.ts";
import type { Env } from "../config.ts";
import { computeRows, loadNetwork } from "../wasm/edge-networks.ts";
import { type Admission, budgetExceeded, type InferInput } from "./admit-request.ts";
import { beforeDeadline, DEADLINE } from "./before-deadline.ts";

interface EdgeAnswer {
  readonly latency: LatencySplit;
  readonly tensors: Tensor[];
  readonly rows: number;
}

/**
 * Answers a request in this isolate, without any hop. The parts of its latency are not told apart: the clock
 * stands still while the network is computed, so all that it shows counts as the edge's.
 */
export async function computeAtEdge(
  env: Env,
  input: InferInput,
  { subject, source, candidate }: Admission,
  arrivedAtMs: number,
  waitUntil: (work: Promise<unknown>) => void,
): Promise<EdgeAnswer> {
  const { runnerId, variant, backend, software, fingerprint } = candidate.placement;
  const log = (totalMs: number) => {
    const outcome = { subject, variant, backend, batch: 1, software, fingerprint, totalMs, split: null };
    logOutcome(env, runnerId, outcome, waitUntil);
  };
  const tensors = await beforeDeadline(compute(env, input, source, variant), input, arrivedAtMs).catch(
    (error: unknown) => {
      log(Date.now() - arrivedAtMs);
      throw error;
    },
  );
  const totalMs = Date.now() - arrivedAtMs;
  log(totalMs);
  if (tensors === DEADLINE) throw budgetExceeded(arrivedAtMs);
  const service = { queueMs: 0, uploadMs: 0, computeMs: 0, readbackMs: 0 };
  return { latency: { totalMs, edgeMs: totalMs, linkMs: 0, ...service }, tensors, rows: 1 };
}

async function compute(env: Env, { tensors }: InferInput, source: Admission["source"], variant: string) {
  const network = await loadNetwork(env, source, variant);
  const [tensor] = tensors;
  if (tensor === undefined) throw new ProblemError("backend-failed", "The request has no input.");
  return [computeRows(network, tensor)];
}
