import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { poissonArrivals } from "../../src/cli/load/arrivals.ts";
import { type LoadOutcome, runOpenLoop } from "../../src/cli/load/open-loop.ts";
import { nearestRank } from "../../src/stats/distribution/summary.ts";
import { seededUniform } from "../../kernels/seeded-uniform.ts";
import type { BenchContext } from "../benches.ts";
import { findOurs } from "../hop/find-ours.ts";
import { FrameClient } from "../hop/frame-client.ts";
import { type HopCase, writeFrame } from "../hop/hop-case.ts";
import type { Stack, Target } from "../hop/start-stack.ts";
import { createRow, type Row, type RowContext } from "../row.ts";

const LOOP = fileURLToPath(new URL("loop-query.ts", import.meta.url));
/** Steady, and far below the machine's capacity. */
const RATE = 50;
const ROUND_MS = 4_000;
const CONNECTIONS = 16;
/** Time for the last answers to arrive. */
const PAUSE_MS = 300;

const MS = { unit: "ms", better: "lower" } as const;
const RATIO = { unit: "×", better: "lower", oursOnly: true } as const;

/** A request of the history for a loop. */
export interface LoopedQuery {
  readonly name: string;
  readonly url: URL;
}

/**
 * Compares an inference's p99 while another client queries the history in a loop with the quiet one of the same round.
 */
export async function* inferBeside(
  { bench, rounds, say }: BenchContext,
  row: Omit<RowContext, "case">,
  stack: Stack,
  { key, loops }: { readonly key: string; readonly loops: readonly LoopedQuery[] },
): AsyncGenerator<Row> {
  const input: HopCase = { values: seededUniform(1, 0, 256), way: "edge" };
  const { aim, close } = await findOurs(stack)(input);
  const client = new FrameClient(aim, writeFrame(input), CONNECTIONS);
  const quiet: number[] = [];
  const loaded = loops.map((): number[] => []);
  try {
    await client.warmUp();
    for (let round = 1; round <= rounds; round++) {
      say(`${bench}: inferences beside questions, round ${round} of ${rounds}`);
      quiet.push(await measureP99(client, round));
      for (const [index, { url }] of loops.entries()) {
        loaded[index]!.push(await whileLooped({ url: url.href, key }, () => measureP99(client, round)));
      }
    }
  } finally {
    client.close();
    await close();
  }
  for (const [index, { name }] of loops.entries()) {
    const looped = { ...row, case: `${name}, in a loop` };
    const ratios = loaded[index]!.map((p99, round) => p99 / quiet[round]!);
    yield createRow(looped, ["inferenceP99", MS], loaded[index]!, { name: "quiet", values: quiet });
    yield createRow(looped, ["inferenceP99Ratio", RATIO], ratios, null);
  }
}

/** Sends by the round's scheduled arrivals, which are the same for all; a failed request counts as never answered. */
async function measureP99(client: FrameClient, seed: number): Promise<number> {
  const latencies: number[] = [];
  const arrivals = poissonArrivals({ ratePerSecond: RATE, durationMs: ROUND_MS, seed });
  const send = () =>
    client.send().then(
      () => "ok",
      () => "failed",
    );
  const note = ({ result, latencyMs }: LoadOutcome) => void latencies.push(result === "ok" ? latencyMs : Infinity);
  await runOpenLoop(arrivals, send, note, new AbortController().signal);
  return nearestRank(Float64Array.from(latencies).toSorted(), 0.99);
}

/** Asks in a separate process, so that reading the replies does not delay this one. */
async function whileLooped<Value>(target: Target, measure: () => Promise<Value>): Promise<Value> {
  const child = fork(LOOP, { execArgv: [], stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const closed = once(child, "close");
  const failed = closed.then(() => Promise.reject(new Error("the looped query failed")));
  failed.catch(() => {});
  try {
    child.send(target);
    await Promise.race([once(child, "message"), failed]);
    return await Promise.race([measure(), failed]);
  } finally {
    child.kill("SIGKILL");
    await closed;
    await delay(PAUSE_MS);
  }
}
