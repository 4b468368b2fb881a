import { expect, it, vi } from "vitest";
import { createClient } from "../../../src/client/client.ts";
import { DirectWays } from "../../../src/client/direct-ways.ts";
import { FRAME_MEDIA_TYPE } from "../../../src/protocol/inference/inference.ts";
import type { Ticket } from "../../../src/protocol/inference/ticket.ts";
import { encodeFrame } from "../../../src/protocol/wire/frame.ts";
import { createId } from "../../../src/protocol/wire/id.ts";
import { createProblem, type ProblemCode } from "../../../src/protocol/wire/problem.ts";
import type { Tensor } from "../../../src/protocol/wire/tensor.ts";
import { createRecordingFetch, json } from "./recording-fetch.ts";

const input: Tensor = { name: "x", dtype: "uint8", shape: [2], bytes: new Uint8Array([1, 2]) };
const output: Tensor = { name: "y", dtype: "uint8", shape: [1], bytes: new Uint8Array([3]) };
const request = { model: "lenet5", budgetMs: 20, inputs: [input] };

const ticket: Ticket = {
  ticket: "one",
  url: "http://runner.test/v1/infer",
  expiresAt: "2026-11-27T00:00:10.000Z",
  lifeMs: 10_000,
  requests: 100,
  model: "lenet5",
  version: 1,
  placement: {
    id: createId("placement"),
    runnerId: createId("runner"),
    deviceKey: "cpu",
    software: false,
    variant: "fp32",
    backend: "ort-cpu",
    fidelity: 1,
  },
  prediction: { confidence: 0.99, latencyMs: 1, linkMs: 0, queueMs: 0, serviceMs: 1 },
  budgetMs: 32,
};
const latency = { totalMs: 2, queueMs: 0.5, uploadMs: 0, computeMs: 1, readbackMs: 0 };
const answered = { requestId: createId("request"), latency, batch: 1, budgetMs: 20, budgetMet: true };

const alive = () => new Response(null, { status: 200 });
const frame = () => new Response(encodeFrame(answered, [output]), { headers: { "content-type": FRAME_MEDIA_TYPE } });
const refuse = (code: ProblemCode, status: number) =>
  json(createProblem(code, "no"), status, "application/problem+json");
const fail = () => {
  throw new TypeError("fetch failed");
};

type Answer = (request: Request) => Response | Promise<Response>;

/** Ways between a scripted edge and a scripted runner, at a time that a test sets. */
function openWays(edgeAnswers: Answer[], runnerAnswers: Answer[]) {
  const edge = createRecordingFetch(...edgeAnswers);
  const runner = createRecordingFetch(...runnerAnswers);
  const clock = { ms: 0 };
  const client = createClient({ baseUrl: "http://edge.test", key: "mk_1", fetch: edge.fetch });
  const ways = new DirectWays(client, { fetch: runner.fetch, now: () => clock.ms });
  const infer = (changes = {}) => ways.infer({ ...request, ...changes }, new AbortController().signal);
  /** Asks until a request went straight to the runner. */
  const untilDirect = () => vi.waitFor(async () => expect(await infer()).toMatchObject({ way: "direct" }), 10_000);
  return { edge, runner, clock, ways, infer, untilDirect };
}

it("leaves the first request to the edge, and goes straight once the runner was reached", async () => {
  const { edge, runner, infer, untilDirect } = openWays([json(ticket, 201)], [alive, frame, frame]);
  expect(await infer()).toEqual({ lostMs: 0 });
  await untilDirect();
  // Without patience it is the same request.
  expect(await infer({ refuseWithinMs: 0 })).toEqual({
    way: "direct",
    outputs: [output],
    header: {
      requestId: answered.requestId,
      model: "lenet5",
      version: 1,
      placement: { ...ticket.placement, batch: 1 },
      latency: { totalMs: 2, edgeMs: 0, linkMs: 0.5, queueMs: 0.5, uploadMs: 0, computeMs: 1, readbackMs: 0 },
      prediction: ticket.prediction,
      budgetMs: 20,
      budgetMet: true,
      tensors: expect.anything(),
    },
  });
  expect(runner.requests.map(({ url }) => new URL(url).pathname)).toEqual([
    "/v2/health/live",
    "/v1/infer",
    "/v1/infer",
  ]);
  // A ticket for 32 ms holds for budgets from 16 ms on.
  expect(await edge.requests[0]?.json()).toEqual({ model: "lenet5", budgetMs: 32 });
});

it("stays with the edge while no ticket comes or the runner cannot be reached, and tries again later", async () => {
  const { edge, runner, clock, infer } = openWays(
    [refuse("no-listener", 422), json(ticket, 201)],
    [fail, alive, frame],
  );
  expect(await infer()).toEqual({ lostMs: 0 });
  await vi.waitFor(() => expect(edge.requests).toHaveLength(1), 10_000);
  for (let tries = 0; tries < 5; tries++) expect(await infer()).toEqual({ lostMs: 0 });
  expect(edge.requests).toHaveLength(1);
  await vi.waitFor(async () => {
    clock.ms += 100;
    expect(await infer()).toEqual({ lostMs: 0 });
    expect(runner.requests).toHaveLength(1);
  }, 10_000);
  expect(edge.requests).toHaveLength(2);
  await vi.waitFor(async () => {
    clock.ms += 100;
    expect(await infer()).toMatchObject({ way: "direct" });
  }, 10_000);
});

it("gives a failed request back with the time that it lost, and closes the way", async () => {
  const { runner, clock, infer, untilDirect } = openWays(
    [json(ticket, 201)],
    [
      alive,
      frame,
      () => {
        clock.ms += 7;
        return fail();
      },
    ],
  );
  await infer();
  await untilDirect();
  expect(await infer()).toEqual({ lostMs: 7 });
  expect(await infer()).toEqual({ lostMs: 0 });
  expect(runner.requests).toHaveLength(3);
});

it("keeps the way open behind a refusal, and throws it where the budget is over", async () => {
  const late = () => {
    clock.ms += 20;
    return refuse("budget-exceeded", 504)();
  };
  const { clock, infer, untilDirect } = openWays(
    [json(ticket, 201)],
    [alive, frame, refuse("overloaded", 503), late, frame],
  );
  await infer();
  await untilDirect();
  expect(await infer()).toEqual({ lostMs: 0 });
  await expect(infer()).rejects.toMatchObject({ problem: { code: "budget-exceeded" } });
  expect(await infer()).toMatchObject({ way: "direct" });
});

it("throws the reason of an aborted signal, and leaves a patient request to the edge", async () => {
  const ending = new AbortController();
  const { edge, ways, infer, untilDirect } = openWays(
    [json(ticket, 201)],
    [
      alive,
      frame,
      () => {
        ending.abort(new Error("enough"));
        return fail();
      },
    ],
  );
  expect(await infer({ refuseWithinMs: 5 })).toEqual({ lostMs: 0 });
  expect(edge.requests).toHaveLength(0);
  await infer();
  await untilDirect();
  await expect(ways.infer(request, ending.signal)).rejects.toThrow("enough");
});
