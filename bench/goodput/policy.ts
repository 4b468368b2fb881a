import { setTimeout as delay } from "node:timers/promises";
import { rowsOf } from "../../src/gpu-runner/serving/queue/join-tensors.ts";
import type { Tensor } from "../../src/protocol/wire/tensor.ts";
import type { PolicyDevice } from "./model-device.ts";
import { type ModelName, MODELS } from "./served-models.ts";

/** A request as the policy of a server sees it; times are of the monotonic clock. */
export interface PolicyRequest {
  readonly id: string;
  readonly model: ModelName;
  readonly tensors: readonly Tensor[];
  readonly arrivedMs: number;
  readonly deadlineMs: number;
}

/** An answer, or the HTTP status of a request without one: 503 where it was refused, 504 where its time had passed. */
export type PolicyReply =
  | { readonly status: 200; readonly tensors: readonly Tensor[] }
  | { readonly status: number; readonly tensors: null };

/**
 * Part of a budget that every server keeps for the way of the request and of its answer, in milliseconds: a policy sees
 * the rest.
 */
export const WAY_MS = 0.5;

/** Decides what a device computes next. */
export interface Policy {
  serve(request: PolicyRequest): Promise<PolicyReply>;
  /** Drops its waiting requests: the next trace begins with an empty queue. */
  reset(): void;
}

/** Time of a policy in milliseconds: of this process, or simulated. */
export interface PolicyClock {
  readonly now: () => number;
  readonly delay: (durationMs: number) => Promise<void>;
}

export type CreatePolicy = (device: PolicyDevice, clock?: PolicyClock) => Policy;

export const PROCESS_CLOCK: PolicyClock = { now: () => performance.now(), delay: (durationMs) => delay(durationMs) };

/** A request that waits, with the way to answer it. */
export interface Pending {
  readonly request: PolicyRequest;
  readonly reply: (reply: PolicyReply) => void;
}

/** Rows of requests together. */
export function countRows(requests: readonly Pending[]): number {
  return requests.reduce((sum, { request }) => sum + (rowsOf(request.tensors) ?? 1), 0);
}

export const REFUSED: PolicyReply = { status: 503, tensors: null };
export const EXPIRED: PolicyReply = { status: 504, tensors: null };
const FAILED: PolicyReply = { status: 500, tensors: null };

/** A policy with a queue of its own for each model. */
export function queueByModel(open: (model: ModelName) => Policy): Policy {
  const queues = new Map(MODELS.map((model) => [model, open(model)]));
  return {
    serve: (request) => queues.get(request.model)!.serve(request),
    reset: () => queues.forEach((queue) => queue.reset()),
  };
}

/** Computes requests of one model as one batch and answers them. */
export async function answerBatch(device: PolicyDevice, batch: readonly Pending[]): Promise<void> {
  const [first] = batch;
  if (first === undefined) return;
  try {
    const { model } = first.request;
    const answers = await device.compute(
      model,
      batch.map(({ request }) => request.tensors),
    );
    for (const [index, { reply }] of batch.entries()) reply({ status: 200, tensors: answers[index]! });
  } catch {
    for (const { reply } of batch) reply(FAILED);
  }
}
