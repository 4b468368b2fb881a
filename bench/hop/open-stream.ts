import { summarise } from "../../src/stats/distribution/distribution.ts";
import { closeOnError } from "../close-on-error.ts";
import type { Entry } from "../contest.ts";
import { FrameClient, type TimedReply } from "./frame-client.ts";
import { type HopCase, writeFrame } from "./hop-case.ts";
import type { Aim } from "./post-frame.ts";
import { readReply } from "./read-reply.ts";

/** Enough for a p99 with ten requests above it. */
const REQUESTS = 1_000;

/** A target, by the client that measures it. */
export interface OpenTarget {
  readonly aim: () => Promise<Aim>;
  readonly close: () => Promise<void>;
}

/** Prepares a target for a case. */
export type FindTarget = (input: HopCase) => Promise<OpenTarget>;

/** Figures of a round's requests beside their percentiles. */
export type ReadParts = (replies: readonly TimedReply[]) => Record<string, number>;

/** One inference after the other over one kept connection, warmed up. */
export async function openStream(
  { aim, close }: OpenTarget,
  input: HopCase,
  readParts: ReadParts = () => ({}),
): Promise<Entry> {
  const client = new FrameClient(aim, writeFrame(input), 1);
  const end = async () => {
    client.close();
    await close();
  };
  const { body } = await closeOnError(() => client.warmUp(), end);
  return {
    opened: { output: readReply(body).values, adapter: null },
    async measure() {
      client.reconnect();
      await client.send();
      const replies: TimedReply[] = [];
      for (let i = 0; i < REQUESTS; i++) replies.push(await client.send());
      const { p50, p99 } = summarise(replies.map(({ tookMs }) => tookMs));
      return { p50, p99, ...readParts(replies) };
    },
    close: end,
  };
}
