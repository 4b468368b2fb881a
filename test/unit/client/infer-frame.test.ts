import { expect, it } from "vitest";
import { createClient } from "../../../src/client/client.ts";
import { inferFrame } from "../../../src/client/infer.ts";
import { decodeFrame, encodeFrame } from "../../../src/protocol/wire/frame.ts";
import { createId } from "../../../src/protocol/wire/id.ts";
import { FRAME_MEDIA_TYPE, InferFrameHeader } from "../../../src/protocol/inference/inference.ts";
import { createProblem } from "../../../src/protocol/wire/problem.ts";
import type { Tensor } from "../../../src/protocol/wire/tensor.ts";
import { createRecordingFetch, json } from "./recording-fetch.ts";

const input: Tensor = {
  name: "x",
  dtype: "float32",
  shape: [1, 2],
  bytes: new Uint8Array(new Float32Array([1.5, -2]).buffer),
};
const output: Tensor = { name: "y", dtype: "int8", shape: [3], bytes: new Uint8Array([1, 2, 255]) };
const request = { model: "lenet5", budgetMs: 20, inputs: [input] };

const replyHeader = {
  requestId: createId("request"),
  model: "lenet5",
  version: 1,
  placement: {
    id: createId("placement"),
    runnerId: createId("runner"),
    deviceKey: "cpu",
    software: false,
    variant: "fp32",
    backend: "ort-cpu",
    batch: 1,
    fidelity: 1,
  },
  latency: { totalMs: 3, edgeMs: 1, linkMs: 1, queueMs: 0, uploadMs: 0, computeMs: 1, readbackMs: 0 },
  prediction: { confidence: 0.99, latencyMs: 4, linkMs: 2, queueMs: 1, serviceMs: 1 },
  budgetMs: 20,
  budgetMet: true,
};

function answerFrame(frame: Uint8Array<ArrayBuffer>) {
  return createRecordingFetch(() => new Response(frame, { headers: { "content-type": FRAME_MEDIA_TYPE } }));
}

it("sends raw tensors behind a header that the edge can parse, and reads such a reply", async () => {
  const { fetch, requests } = answerFrame(encodeFrame(replyHeader, [output]));
  const client = createClient({ baseUrl: "http://edge.test", key: "mk_1", fetch });
  const reply = await inferFrame(client, { ...request, confidence: 0.95 });

  expect(reply.outputs).toEqual([output]);
  expect(reply.header).toMatchObject({ budgetMet: true, latency: { totalMs: 3 } });

  const [sent] = requests;
  expect(sent?.headers.get("content-type")).toBe(FRAME_MEDIA_TYPE);
  expect(sent?.headers.get("accept")).toBe(FRAME_MEDIA_TYPE);
  const frame = decodeFrame((await sent?.bytes()) ?? new Uint8Array());
  if (!frame.ok) throw new Error(frame.message);
  expect(InferFrameHeader.parse(frame.header)).toMatchObject({ model: "lenet5", budgetMs: 20, confidence: 0.95 });
  expect(frame.payload).toEqual(input.bytes);
});

it("refuses a frame whose bytes do not fill its tensors", async () => {
  const frame = encodeFrame(replyHeader, [output]);
  const { fetch } = answerFrame(frame.slice(0, -1));
  await expect(inferFrame(createClient({ baseUrl: "http://edge.test", fetch }), request)).rejects.toThrow(
    "the frame ends inside tensor y",
  );
});

it("refuses a frame whose header is not of the protocol", async () => {
  const { fetch } = answerFrame(encodeFrame({ ...replyHeader, budgetMet: "yes" }, []));
  await expect(inferFrame(createClient({ baseUrl: "http://edge.test", fetch }), request)).rejects.toThrow("budgetMet");
});

it("throws the problem of a refusal", async () => {
  const { fetch } = createRecordingFetch(
    json(createProblem("budget-exceeded", "late"), 504, "application/problem+json"),
  );
  const infer = inferFrame(createClient({ baseUrl: "http://edge.test", fetch }), request);
  await expect(infer).rejects.toMatchObject({ problem: { code: "budget-exceeded" } });
});
