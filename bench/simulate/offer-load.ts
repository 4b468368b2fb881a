import { Agent } from "node:http";
import { runOpenLoop } from "../../src/cli/load/open-loop.ts";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { decodeFrame, encodeFrame } from "../../src/protocol/frame.ts";
import { InferReplyHeader, type LatencySplit } from "../../src/protocol/inference.ts";
import { nearestRank } from "../../src/stats/nearest-rank.ts";
import { createInput } from "../goodput/served-models.ts";
import { postFrame } from "../hop/post-frame.ts";
import type { Target } from "../hop/start-stack.ts";
import { MODEL } from "./place-slowly.ts";

interface OfferedLoad {
  readonly arrivalsMs: Float64Array;
  readonly budgetMs: number;
  /** What arrives before is sent, and counts for nothing. */
  readonly fromMs: number;
}

/** What became of a load. */
export interface LoadReport {
  /** Answered within the budget, by the edge's clock, on which it counts. */
  readonly inBudget: number;
  readonly splits: readonly LatencySplit[];
  readonly lagP99Ms: number;
}

/** Sends a row at each arrival to whichever runner there is, whether or not those before were answered. */
export async function offerLoad(
  { url, key }: Target,
  { arrivalsMs, budgetMs, fromMs }: OfferedLoad,
): Promise<LoadReport> {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: Infinity });
  const aim = { url: new URL(endpoints.infer.path, url), bearer: key };
  const frame = encodeFrame({ model: MODEL, backend: "ort-cpu", budgetMs }, createInput(MODEL, 0));
  const splits: LatencySplit[] = [];
  const lags: number[] = [];
  let inBudget = 0;
  const send = async (index: number) => {
    const { status, body } = await postFrame(agent, aim, frame);
    if (status !== 200 || arrivalsMs[index]! < fromMs) return String(status);
    const decoded = decodeFrame(body);
    if (!decoded.ok) throw new Error(decoded.message);
    const { latency, budgetMet } = InferReplyHeader.parse(decoded.header);
    splits.push(latency);
    if (budgetMet) inBudget++;
    return budgetMet ? "ok" : "late";
  };
  try {
    await runOpenLoop(arrivalsMs, send, ({ lagMs }) => lags.push(lagMs), new AbortController().signal);
  } finally {
    agent.destroy();
  }
  return { inBudget, splits, lagP99Ms: nearestRank(Float64Array.from(lags).toSorted(), 0.99) };
}
