/**
 * Entry of a contender's server: `node policy-server.ts <policy>`, forked with an IPC channel. It sends its port. On
 * "reset" it drops its waiting requests; on "measure" it measures its device and sends the times. It serves until its
 * parent kills it or ends.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { decodeFrame, encodeFrame, splitTensors } from "../../src/protocol/wire/frame.ts";
import { FRAME_MEDIA_TYPE, InferFrameHeader } from "../../src/protocol/inference/inference.ts";
import { openModelDevice } from "./model-device.ts";
import { POLICIES, type PolicyName } from "./policies.ts";
import { type PolicyReply, WAY_MS } from "./policy.ts";
import { MODELS } from "./served-models.ts";
import { measureServiceTimes } from "./service-times.ts";

const device = await openModelDevice();
const policy = POLICIES[process.argv[2] as PolicyName](device);
let requests = 0;

async function infer(request: IncomingMessage): Promise<PolicyReply> {
  const arrivedMs = performance.now();
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { buffer, byteOffset, byteLength } = Buffer.concat(chunks);
  const frame = decodeFrame(new Uint8Array(buffer, byteOffset, byteLength));
  if (!frame.ok) throw new Error(frame.message);
  const header = InferFrameHeader.parse(frame.header);
  const split = splitTensors(header.tensors, frame.payload);
  if (!split.ok) throw new Error(split.message);
  const model = MODELS.find((name) => name === header.model);
  if (model === undefined) throw new Error(`there is no model ${header.model}`);
  const deadlineMs = arrivedMs + Math.max(0, header.budgetMs - WAY_MS);
  return policy.serve({ id: `request${requests++}`, model, tensors: split.tensors, arrivedMs, deadlineMs });
}

function answer(response: ServerResponse, { status, tensors }: PolicyReply): void {
  const body = tensors === null ? new Uint8Array() : encodeFrame({}, tensors);
  response.writeHead(status, { "content-type": FRAME_MEDIA_TYPE, "content-length": body.byteLength }).end(body);
}

const server = createServer((request, response) => {
  infer(request).then(
    (reply) => answer(response, reply),
    (error: unknown) => response.writeHead(500).end(String(error)),
  );
});

// Connections stay open between rounds, however far apart those are.
server.keepAliveTimeout = 0;

process.on("SIGINT", () => {}); // Ctrl-C reaches the whole group, and the parent decides.
process.on("message", (order) => {
  if (order === "reset") policy.reset();
  else void measureServiceTimes(device).then((times) => process.send?.(times));
});
process.on("disconnect", () => process.exit(0));
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
