import type { Entry } from "../contest.ts";
import { InferStream } from "./infer-stream.ts";
import type { HopCase } from "./hop-case.ts";
import { readReply } from "./read-reply.ts";

const WARMUP = 500;
/** Enough for a p99 that ten requests stand above. */
const REQUESTS = 1_000;

/** Where a client reaches the backend. */
export interface Target {
  readonly url: string;
  readonly key: string;
}

/** What a round makes of its requests beside their percentiles. */
export type ReadParts = (
  replies: readonly { readonly body: Uint8Array; readonly tookMs: number }[],
) => Record<string, number>;

/** A target made ready: warmed up, and measured by the same client whatever stands behind it. */
export async function openStream(
  target: Target,
  input: HopCase,
  readParts: ReadParts,
  close: () => Promise<void>,
): Promise<Entry> {
  const stream = new InferStream(target.url, target.key, input);
  for (let i = 0; i < WARMUP; i++) await stream.infer();
  const { body } = await stream.infer();
  return {
    opened: { output: readReply(body).values, adapter: null },
    async measure() {
      const replies = [];
      for (let i = 0; i < REQUESTS; i++) replies.push(await stream.infer());
      const sorted = Float64Array.from(replies, ({ tookMs }) => tookMs).toSorted();
      const at = (share: number) => sorted[Math.floor(share * REQUESTS)] ?? Number.NaN;
      return { p50: at(0.5), p99: at(0.99), ...readParts(replies) };
    },
    async close() {
      stream.close();
      await close();
    },
  };
}
