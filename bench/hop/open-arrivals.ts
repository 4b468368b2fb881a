import { poissonArrivals } from "../../src/cli/load/arrivals.ts";
import { type LoadOutcome, runOpenLoop } from "../../src/cli/load/open-loop.ts";
import { nearestRank } from "../../src/stats/distribution/summary.ts";
import { closeOnError } from "../close-on-error.ts";
import type { Entry } from "../contest.ts";
import { FrameClient } from "./frame-client.ts";
import type { GcPauses } from "./gc-log.ts";
import { type HopCase, writeFrame } from "./hop-case.ts";
import type { OpenTarget } from "./open-stream.ts";
import { overlapMs, type Span } from "./overlap-ms.ts";
import { readReply } from "./read-reply.ts";

const RATE = 200;
/** 2,000 requests: two are above a round's p99.9. */
const ROUND_MS = 10_000;
const CONNECTIONS = 64;
/** Connections that are open before a round. */
const OPENED = 8;

/**
 * Requests that arrive at random, 200 a second, whether or not earlier ones were answered. The pauses of collectors
 * show their part of a request's time: the same percentiles are reported without it.
 */
export async function openArrivals(
  { aim, close }: OpenTarget,
  input: HopCase,
  readPauses: () => Promise<GcPauses> = async () => [],
): Promise<Entry> {
  const client = new FrameClient(aim, writeFrame(input), CONNECTIONS);
  const end = async () => {
    client.close();
    await close();
  };
  const { body } = await closeOnError(() => client.warmUp(), end);
  let seed = 0;
  return {
    opened: { output: readReply(body).values, adapter: null },
    async measure() {
      client.reconnect();
      await Promise.all(Array.from({ length: OPENED }, () => client.send()));
      const arrivals = poissonArrivals({ ratePerSecond: RATE, durationMs: ROUND_MS, seed: seed++ });
      const spans: Span[] = [];
      const note = ({ latencyMs }: LoadOutcome) => {
        const toMs = performance.timeOrigin + performance.now();
        spans.push({ fromMs: toMs - latencyMs, toMs });
      };
      await runOpenLoop(arrivals, async () => (await client.send(), "ok"), note, new AbortController().signal);
      const pauses = await readPauses();
      const all = percentiles(spans.map(({ fromMs, toMs }) => toMs - fromMs));
      const mutator = percentiles(spans.map((span) => span.toMs - span.fromMs - overlapMs(span, pauses)));
      const within = pauses.filter(({ toMs }) => toMs > (spans[0]?.fromMs ?? 0));
      return {
        ...all,
        "p50 less gc": mutator.p50,
        "p99 less gc": mutator.p99,
        "p99.9 less gc": mutator["p99.9"],
        "time in gc": (100 * within.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0)) / ROUND_MS,
        "longest gc": Math.max(0, ...within.map(({ fromMs, toMs }) => toMs - fromMs)),
      };
    },
    close: end,
  };
}

function percentiles(values: readonly number[]) {
  const sorted = Float64Array.from(values).toSorted();
  return { p50: nearestRank(sorted, 0.5), p99: nearestRank(sorted, 0.99), "p99.9": nearestRank(sorted, 0.999) };
}
