import type { Entry } from "../contest.ts";
import { FrameClient, type Aim } from "./frame-client.ts";
import { type HopCase, writeFrame } from "./hop-case.ts";
import { readReply } from "./read-reply.ts";

const WARMUP = 500;
/** Enough for a p99 that ten requests stand above. */
const REQUESTS = 1_000;

/** A target, by the client that measures it. */
export interface OpenTarget {
  readonly aim: () => Promise<Aim>;
  readonly close: () => Promise<void>;
}

/** Makes a target ready for a case. */
export type FindTarget = (input: HopCase) => Promise<OpenTarget>;

/** What a round makes of its requests beside their percentiles. */
export type ReadParts = (
  replies: readonly { readonly body: Uint8Array; readonly tookMs: number }[],
) => Record<string, number>;

/** One inference after the other over one kept connection, warmed up. */
export async function openStream(
  { aim, close }: OpenTarget,
  input: HopCase,
  readParts: ReadParts = () => ({}),
): Promise<Entry> {
  const client = new FrameClient(aim, writeFrame(input), 1);
  for (let i = 0; i < WARMUP; i++) await client.send();
  const { body } = await client.send();
  return {
    opened: { output: readReply(body).values, adapter: null },
    async measure() {
      const replies = [];
      for (let i = 0; i < REQUESTS; i++) replies.push(await client.send());
      const sorted = Float64Array.from(replies, ({ tookMs }) => tookMs).toSorted();
      const at = (share: number) => sorted[Math.floor(share * REQUESTS)] ?? Number.NaN;
      return { p50: at(0.5), p99: at(0.99), ...readParts(replies) };
    },
    async close() {
      client.close();
      await close();
    },
  };
}
