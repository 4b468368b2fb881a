import { runInDurableObject } from "cloudflare:test";
import { expect, it } from "vitest";
import { JobTraces } from "../../../src/edge/queue/queue-tables.ts";
import { callEdge } from "../stack/edge-client.ts";
import { newOnlineRunner, queueStub, submitJob } from "../stack/queue-client.ts";

const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

it("are kept for jobs that wait or run, and forgotten behind their end", async () => {
  const { runnerId } = await newOnlineRunner();
  await callEdge("POST", `/v1/runners/${runnerId}/drain`);
  const [waiting, ended] = [await submitJob(), await submitJob()];
  await callEdge("POST", `/v1/jobs/${ended.id}/cancel`);
  await runInDurableObject(queueStub(), (_, { storage }) => {
    const traces = new JobTraces(storage.sql);
    for (const { id } of [waiting, ended]) traces.keep(id, TRACEPARENT);
    traces.prune();
    expect(traces.find(waiting.id)).toMatchObject({ parentId: "b7ad6b7169203331", sampled: true });
    expect(traces.find(ended.id)).toBeNull();
  });
});

it("reach no runner where nothing is traced", async () => {
  const { scripted } = await newOnlineRunner();
  const reply = await callEdge("POST", "/v1/jobs", {
    body: { kind: "benchmark", kernel: "triad", shape: { n: 64 } },
    headers: { traceparent: TRACEPARENT },
  });
  expect(reply.status).toBe(202);
  expect(reply.headers.get("traceparent")).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/);
  expect(await scripted.next("offer")).not.toHaveProperty("traceparent");
});
