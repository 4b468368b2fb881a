import { LatencySplit } from "../../src/protocol/inference/inference.ts";
import type { ReadParts } from "./open-stream.ts";
import { readReply } from "./read-reply.ts";

/** The direct way has neither edge nor link. */
const Split = LatencySplit.extend({
  edgeMs: LatencySplit.shape.edgeMs.default(0),
  linkMs: LatencySplit.shape.linkMs.default(0),
});
const PARTS = ["edge", "link", "queue", "upload", "compute", "readback"] as const;

/**
 * Means of the parts that the edge reports with every reply; the rest of the client's time is its own and the socket's.
 */
export const readParts: ReadParts = (replies) => {
  const sums = new Map<string, number>();
  const add = (part: string, ms: number) => sums.set(part, (sums.get(part) ?? 0) + ms / replies.length);
  for (const { body, tookMs } of replies) {
    const split = Split.parse(readReply(body).header["latency"]);
    for (const part of PARTS) add(`mean in ${part}`, split[`${part}Ms`]);
    add("mean in client and socket", tookMs - split.totalMs);
  }
  return Object.fromEntries(sums);
};
