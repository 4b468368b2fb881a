import { Agent } from "node:http";
import { type LoadOutcome, runOpenLoop } from "../../src/cli/load/open-loop.ts";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { decodeFrame, encodeFrame } from "../../src/protocol/wire/frame.ts";
import { InferReplyHeader, type LatencySplit } from "../../src/protocol/inference/inference.ts";
import { parseProblem } from "../../src/protocol/wire/problem.ts";
import { nearestRank } from "../../src/stats/distribution/summary.ts";
import { createInput } from "../goodput/served-models.ts";
import { postFrame } from "../hop/post-frame.ts";
import type { Target } from "../hop/start-stack.ts";
import { MODEL } from "./place-slowly.ts";

interface OfferedLoad {
  readonly arrivalsMs: Float64Array;
  readonly budgetMs: number;
  /** Requests that arrive earlier are sent but not counted. */
  readonly fromMs: number;
}

/** Results of an offered load. */
export interface LoadReport {
  /** Number of answers within the budget, by the edge's clock, which decides. */
  readonly inBudget: number;
  readonly splits: readonly LatencySplit[];
  /** Number of requests by result: `ok`, `late`, or the code of a problem. */
  readonly results: Readonly<Record<string, number>>;
  readonly lagP99Ms: number;
}

/** Sends a row at each arrival to any available runner, whether or not earlier rows were answered. */
export async function offerLoad(
  { url, key }: Target,
  { arrivalsMs, budgetMs, fromMs }: OfferedLoad,
): Promise<LoadReport> {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: Infinity });
  const aim = { url: new URL(endpoints.infer.path, url), bearer: key };
  const frame = encodeFrame({ model: MODEL, backend: "ort-cpu", budgetMs }, createInput(MODEL, 0));
  const splits: LatencySplit[] = [];
  const lags: number[] = [];
  const results: Record<string, number> = {};
  const send = async (index: number) => {
    const { status, body } = await postFrame(agent, aim, frame);
    if (status !== 200) return parseProblem(new TextDecoder().decode(body))?.problem.code ?? String(status);
    const decoded = decodeFrame(body);
    if (!decoded.ok) throw new Error(decoded.message);
    const { latency, budgetMet } = InferReplyHeader.parse(decoded.header);
    if (arrivalsMs[index]! >= fromMs) splits.push(latency);
    return budgetMet ? "ok" : "late";
  };
  try {
    const note = ({ result, lagMs }: LoadOutcome, index: number) => {
      lags.push(lagMs);
      if (arrivalsMs[index]! >= fromMs) results[result] = (results[result] ?? 0) + 1;
    };
    await runOpenLoop(arrivalsMs, send, note, new AbortController().signal);
  } finally {
    agent.destroy();
  }
  return {
    inBudget: results.ok ?? 0,
    splits,
    results,
    lagP99Ms: nearestRank(Float64Array.from(lags).toSorted(), 0.99),
  };
}
