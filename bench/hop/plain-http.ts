/**
 * Entry of the plain server: `node plain-http.ts <model>`; sends its port on the IPC channel and serves until it is
 * killed.
 */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { OrtBackend } from "../../src/gpu-runner/devices/ort/ort-backend.ts";
import { decodeFrame, encodeFrame, splitTensors } from "../../src/protocol/wire/frame.ts";
import { FRAME_MEDIA_TYPE, InferFrameHeader } from "../../src/protocol/inference/inference.ts";

const MODEL = "model";
/** Fields of both forms of the request. */
const FrameHeader = InferFrameHeader.pick({ tensors: true }).loose();

const backend = new OrtBackend("cpu");
await backend.load(MODEL, process.argv[2] ?? "");

async function infer(request: IncomingMessage): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { buffer, byteOffset, byteLength } = Buffer.concat(chunks);
  const frame = decodeFrame(new Uint8Array(buffer, byteOffset, byteLength));
  if (!frame.ok) throw new Error(frame.message);
  const split = splitTensors(FrameHeader.parse(frame.header).tensors, frame.payload);
  if (!split.ok) throw new Error(split.message);
  const { tensors } = await backend.run(MODEL, split.tensors);
  return encodeFrame({}, tensors);
}

const server = createServer(async (request, response) => {
  try {
    const body = await infer(request);
    response.writeHead(200, { "content-type": FRAME_MEDIA_TYPE, "content-length": body.byteLength }).end(body);
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
});

process.on("SIGINT", () => {}); // Ctrl-C reaches the whole group, and the parent decides.
process.on("disconnect", () => process.exit(0));
// A round of another contender lasts longer than Node keeps an idle connection.
server.keepAliveTimeout = 0;
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
