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

/**
 * Sends one frame over a connection of the agent, and again where the server closes an idle one at that moment; rejects
 * where the connection breaks otherwise.
 */
export function postFrame(agent: Agent, aim: Aim, frame: Uint8Array): Promise<FrameReply> {
  const { url, bearer } = aim;
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
  outgoing.on("error", (error: NodeJS.ErrnoException) => {
    if (outgoing.reusedSocket && error.code === "ECONNRESET") postFrame(agent, aim, frame).then(resolve, reject);
    else reject(error);
  });
  outgoing.end(frame);
  return promise;
}
