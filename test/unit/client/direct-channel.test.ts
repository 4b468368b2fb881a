import { expect, it, vi } from "vitest";
import { createClient } from "../../../src/client/client.ts";
import { openDirectChannel } from "../../../src/client/direct-channel.ts";
import { decodeFrame, encodeFrame } from "../../../src/protocol/wire/frame.ts";
import { createId } from "../../../src/protocol/wire/id.ts";
import { FRAME_MEDIA_TYPE } from "../../../src/protocol/inference/inference.ts";
import { createProblem, type ProblemCode } from "../../../src/protocol/wire/problem.ts";
import type { Tensor } from "../../../src/protocol/wire/tensor.ts";
import { DirectFrameHeader, type Ticket } from "../../../src/protocol/inference/ticket.ts";
import { createRecordingFetch, json } from "./recording-fetch.ts";

const input: Tensor = { name: "x", dtype: "uint8", shape: [2], bytes: new Uint8Array([1, 2]) };
const output: Tensor = { name: "y", dtype: "uint8", shape: [1], bytes: new Uint8Array([3]) };

const ticket = (name: string): Ticket => ({
  ticket: name,
  url: "http://runner.test/v1/infer",
  expiresAt: "2026-11-21T00:00:10.000Z",
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
  budgetMs: 20,
});

const latency = { totalMs: 1, queueMs: 0, uploadMs: 0, computeMs: 1, readbackMs: 0 };
const header = { requestId: createId("request"), latency, batch: 1, budgetMs: 20, budgetMet: true };
const frame = () => new Response(encodeFrame(header, [output]), { headers: { "content-type": FRAME_MEDIA_TYPE } });
const refuse = (code: ProblemCode, status: number) =>
  json(createProblem(code, "no"), status, "application/problem+json");

type Answer = (request: Request) => Response | Promise<Response>;

/** A channel between a scripted edge and a scripted runner, at a time that a test sets. */
function open(edgeAnswers: Answer[], runnerAnswers: Answer[]) {
  const edge = createRecordingFetch(...edgeAnswers);
  const runner = createRecordingFetch(...runnerAnswers);
  const clock = { ms: 0 };
  const client = createClient({ baseUrl: "http://edge.test", key: "mk_1", fetch: edge.fetch });
  const wishes = { model: "lenet5", budgetMs: 20 };
  const channel = openDirectChannel(client, wishes, { fetch: runner.fetch, now: () => clock.ms });
  const bearers = () => runner.requests.map(({ headers }) => headers.get("authorization"));
  return { channel, edge, runner, clock, bearers };
}

it("gets one ticket for many requests, and sends frames to the runner", async () => {
  const { channel, edge, runner, bearers } = open([json(ticket("one"), 201)], [frame, frame]);
  const reply = await channel.infer({ inputs: [input] });
  expect(reply.outputs).toEqual([output]);
  expect(reply).toMatchObject({ header: { budgetMet: true }, ticket: { model: "lenet5" } });
  await channel.infer({ inputs: [input], budgetMs: 5 });
  expect(await edge.requests[0]?.json()).toEqual({ model: "lenet5", budgetMs: 20 });
  expect(edge.requests).toHaveLength(1);
  expect(bearers()).toEqual(["Bearer one", "Bearer one"]);
  const headers = [];
  for (const request of runner.requests) {
    expect([request.url, request.headers.get("content-type")]).toEqual([ticket("").url, FRAME_MEDIA_TYPE]);
    const sent = decodeFrame(new Uint8Array(await request.arrayBuffer()));
    if (!sent.ok) throw new Error(sent.message);
    headers.push(DirectFrameHeader.parse(sent.header).budgetMs);
  }
  expect(headers).toEqual([undefined, 5]);
});

it("renews a ticket before it ends, behind a request", async () => {
  const { channel, edge, clock, bearers } = open(
    [json(ticket("one"), 201), json(ticket("two"), 201)],
    [frame, frame, frame],
  );
  await channel.infer({ inputs: [input] });
  clock.ms = 7_000;
  await channel.infer({ inputs: [input] });
  await vi.waitFor(() => expect(edge.requests).toHaveLength(2), 10_000);
  clock.ms = 9_000;
  await channel.infer({ inputs: [input] });
  expect(bearers()).toEqual(["Bearer one", "Bearer one", "Bearer two"]);
});

it("waits for a new ticket where the one it has is over, by time or by requests", async () => {
  const tickets = [json({ ...ticket("one"), requests: 1 }, 201), json(ticket("two"), 201), json(ticket("three"), 201)];
  const { channel, clock, bearers } = open(tickets, [frame, frame, frame]);
  await channel.infer({ inputs: [input] });
  await channel.infer({ inputs: [input] });
  clock.ms = 10_000;
  await channel.infer({ inputs: [input] });
  expect(bearers()).toEqual(["Bearer one", "Bearer two", "Bearer three"]);
});

it("tries once more with another ticket where the runner does not take this one", async () => {
  const expired = refuse("ticket-expired", 401);
  const tried = open([json(ticket("one"), 201), json(ticket("two"), 201)], [expired, frame]);
  expect((await tried.channel.infer({ inputs: [input] })).ticket.ticket).toBe("two");
  const refused = open([json(ticket("one"), 201), json(ticket("two"), 201)], [expired, refuse("unauthorized", 401)]);
  await expect(refused.channel.infer({ inputs: [input] })).rejects.toMatchObject({ problem: { code: "unauthorized" } });
});

it("throws the edge's problem, the runner's, and says which address cannot be reached", async () => {
  const { channel } = open([refuse("no-listener", 422)], []);
  await expect(channel.infer({ inputs: [input] })).rejects.toMatchObject({ problem: { code: "no-listener" } });
  const late = open([json(ticket("one"), 201)], [refuse("budget-exceeded", 504)]);
  await expect(late.channel.infer({ inputs: [input] })).rejects.toMatchObject({ problem: { code: "budget-exceeded" } });
  await expect(late.channel.infer({ inputs: [input] })).rejects.toThrow(
    "http://runner.test/v1/infer cannot be reached",
  );
});

it("waits longer from one failed renewal to the next while its ticket still serves", async () => {
  const unwell = refuse("overloaded", 503);
  const { channel, edge, clock, bearers } = open(
    [json(ticket("one"), 201), unwell, unwell, json(ticket("two"), 201)],
    Array.from({ length: 12 }, () => frame),
  );
  const inferTwice = async () => {
    for (let i = 0; i < 2; i++) await channel.infer({ inputs: [input] });
    // A renewal goes on behind its request.
    await new Promise((resolve) => setTimeout(resolve, 0));
  };
  const asked = [];
  // The pauses are 250 to 500 ms, then 500 to 1,000.
  for (const atMs of [0, 6_000, 6_200, 6_600, 7_000, 7_700]) {
    clock.ms = atMs;
    await inferTwice();
    asked.push(edge.requests.length);
  }
  expect(asked).toEqual([1, 2, 2, 3, 3, 4]);
  expect(new Set(bearers().slice(0, -2))).toEqual(new Set(["Bearer one"]));
});

it("renews once for all requests whose ticket the runner does not take, and counts them as uses of the new one", async () => {
  const tickets = [json(ticket("one"), 201), json({ ...ticket("two"), requests: 3 }, 201), json(ticket("three"), 201)];
  const expired = refuse("ticket-expired", 401);
  const later = Promise.withResolvers<void>();
  const { channel, bearers } = open(tickets, [
    frame,
    expired,
    async () => {
      await later.promise;
      return expired();
    },
    frame,
    frame,
    frame,
    frame,
  ]);
  const infer = () => channel.infer({ inputs: [input] });
  await infer();
  const [first, second] = [infer(), infer()];
  await first;
  // Refused only now that another has got a new ticket.
  later.resolve();
  await second;
  const rest = bearers().slice(1);
  expect(rest).toEqual(["Bearer one", "Bearer one", "Bearer two", "Bearer two"]);
  await infer();
  await infer();
  expect(bearers().slice(-2)).toEqual(["Bearer two", "Bearer three"]);
});

it("asks for no more tickets in a row where the runner takes none of them", async () => {
  const { channel, edge, clock } = open(
    ["one", "two", "three"].map((name) => json(ticket(name), 201)),
    Array.from({ length: 6 }, () => refuse("unauthorized", 401)),
  );
  for (const atMs of [0, 1, 2, 600]) {
    clock.ms = atMs;
    await expect(channel.infer({ inputs: [input] })).rejects.toMatchObject({ problem: { code: "unauthorized" } });
  }
  expect(edge.requests).toHaveLength(3);
});

it("lets a request go that is given up while it waits for a ticket, which serves the next", async () => {
  const ready = Promise.withResolvers<void>();
  const { channel, edge, bearers } = open(
    [
      async () => {
        await ready.promise;
        return json(ticket("one"), 201)();
      },
    ],
    [frame],
  );
  const reason = new Error("given up");
  await expect(channel.infer({ inputs: [input], signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  const stopping = new AbortController();
  const given = channel.infer({ inputs: [input], signal: stopping.signal });
  const other = channel.infer({ inputs: [input] });
  stopping.abort(reason);
  await expect(given).rejects.toBe(reason);
  ready.resolve();
  await other;
  expect([edge.requests.length, bearers()]).toEqual([1, ["Bearer one"]]);
});
