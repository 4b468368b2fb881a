import { type Agent, request } from "node:http";
import { FRAME_MEDIA_TYPE } from "../../src/protocol/inference/inference.ts";

/** Current address of the backend for a client, and its bearer. */
export interface Aim {
  readonly url: URL;
  readonly bearer: string;
}

/** A reply as received. */
export interface FrameReply {
  readonly status: number;
  readonly body: Uint8Array;
}

/** Sends one frame over a connection of the agent; rejects where that breaks. */
export function postFrame(agent: Agent, { url, bearer }: Aim, frame: Uint8Array): Promise<FrameReply> {
  const headers = {
    authorization: `Bearer ${bearer}`,
    "content-type": FRAME_MEDIA_TYPE,
    accept: FRAME_MEDIA_TYPE,
    "content-length": frame.byteLength,
  };
  const { promise, resolve, reject } = Promise.withResolvers<FrameReply>();
  const outgoing = request(url, { method: "POST", agent, headers }, (reply) => {
    const chunks: Buffer[] = [];
    reply.on("data", (chunk: Buffer) => chunks.push(chunk)).on("error", reject);
    reply.on("end", () => resolve({ status: reply.statusCode ?? 0, body: new Uint8Array(Buffer.concat(chunks)) }));
  });
  outgoing.on("error", reject).end(frame);
  return promise;
}
