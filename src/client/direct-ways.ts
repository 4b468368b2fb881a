import type { InferReplyHeader } from "../protocol/inference/inference.ts";
import { LIMITS } from "../protocol/wire/limits.ts";
import { type ProblemCode, ProblemError } from "../protocol/wire/problem.ts";
import type { Client } from "./client.ts";
import {
  createPause,
  type DirectChannel,
  type DirectOptions,
  type DirectReply,
  openDirectChannel,
} from "./direct-channel.ts";
import type { InferFrameReply, InferFrameRequest } from "./infer.ts";

/** Most ways that are kept; one more replaces the oldest. */
const KEPT_WAYS = 64;
/** A runner that cannot be reached within this time is too far for going straight there. */
const REACHED_WITHIN_MS = 1_000;
/** Refusals of a request that show nothing wrong with the way. */
const OF_THE_REQUEST = new Set<ProblemCode>(["overloaded", "budget-exceeded"]);

interface Way {
  readonly channel: DirectChannel;
  readonly pause: ReturnType<typeof createPause>;
  state: "closed" | "opening" | "open";
}

/**
 * The ways of a client's inferences straight to runners. A way is opened behind the first request for it: it needs a
 * ticket, and a runner that answers. Any failure closes it for a while, longer with each.
 */
export class DirectWays {
  readonly #client: Client;
  readonly #options: DirectOptions;
  readonly #now: () => number;
  /** By what a ticket is for. */
  readonly #ways = new Map<string, Way>();

  constructor(client: Client, options: DirectOptions = {}) {
    this.#client = client;
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /**
   * Asks the runner itself. Where the edge has to answer, since the way is not open or has just failed, it gives the
   * time that was lost. Throws the failure where no time is left, and the signal's reason once that is aborted.
   */
  async infer(request: InferFrameRequest, signal: AbortSignal): Promise<InferFrameReply | { readonly lostMs: number }> {
    // No ticket has a field for it.
    if ((request.refuseWithinMs ?? 0) > 0) return { lostMs: 0 };
    const way = this.#wayOf(request);
    if (way.state !== "open") {
      if (way.state === "closed" && way.pause.isOver()) void this.#open(way);
      return { lostMs: 0 };
    }
    const { inputs, budgetMs } = request;
    const startedMs = this.#now();
    try {
      return toInferReply(await way.channel.infer({ inputs, budgetMs, signal }));
    } catch (error) {
      const isRefused = error instanceof ProblemError && OF_THE_REQUEST.has(error.problem.code);
      if (!isRefused) close(way);
      signal.throwIfAborted();
      const lostMs = this.#now() - startedMs;
      if (lostMs >= budgetMs) throw error;
      return { lostMs };
    }
  }

  #wayOf(request: InferFrameRequest): Way {
    const { inputs: _, signal: __, marginMs: ___, direct: ____, refuseWithinMs: _____, ...asked } = request;
    // A ticket is for budgets up to its own: those of one power of two share it.
    const mostMs = Math.min(LIMITS.maxBudgetMs, 2 ** Math.ceil(Math.log2(Math.max(1, asked.budgetMs))));
    const wishes = { ...asked, budgetMs: mostMs };
    const key = JSON.stringify(wishes);
    const known = this.#ways.get(key);
    if (known !== undefined) return known;
    const channel = openDirectChannel(this.#client, wishes, this.#options);
    const way: Way = { channel, pause: createPause(this.#now), state: "closed" };
    if (this.#ways.size >= KEPT_WAYS) this.#ways.delete(this.#ways.keys().next().value!);
    this.#ways.set(key, way);
    return way;
  }

  async #open(way: Way): Promise<void> {
    way.state = "opening";
    try {
      await way.channel.reach(AbortSignal.timeout(REACHED_WITHIN_MS));
      way.state = "open";
      way.pause.end();
    } catch {
      close(way);
    }
  }
}

function close(way: Way): void {
  way.state = "closed";
  way.pause.lengthen();
}

/** The reply as the edge would have given it; its times are the runner's, so there are none of the edge and the link. */
function toInferReply({ header, outputs, ticket }: DirectReply): InferFrameReply {
  const { batch, latency, ...reply } = header;
  const { model, version, placement, prediction } = ticket;
  const { totalMs, ...times } = latency;
  const runnerMs = times.queueMs + times.uploadMs + times.computeMs + times.readbackMs;
  const split = { totalMs, edgeMs: 0, linkMs: Math.max(0, totalMs - runnerMs), ...times };
  const place = { ...placement, batch };
  const all: InferReplyHeader = { ...reply, model, version, placement: place, prediction, latency: split };
  return { header: all, outputs, way: "direct" };
}
