import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect } from "vitest";
import type { Job, JobEvent } from "../../../src/protocol/jobs/job.ts";
import { callEdge, fetchEdge, registerRunner, type RegisteredRunner } from "./edge-client.ts";
import { ScriptedRunner } from "./scripted-runner.ts";

/** Runners of one test: afterwards they are removed and its jobs ended, so that no other test meets them. */
const registered: RegisteredRunner[] = [];
let hasSubmitted = false;

/** Ends the jobs and removes the runners of the test that has ended. */
export async function endWork(): Promise<void> {
  if (!hasSubmitted && registered.length === 0) return;
  hasSubmitted = false;
  for (const state of ["queued", "leased"]) {
    const { items } = (await callEdge("GET", `/v1/jobs?limit=200&state=${state}`)).json;
    for (const { id } of items) await callEdge("POST", `/v1/jobs/${id}/cancel`);
  }
  for (const { runnerId } of registered.splice(0)) await callEdge("DELETE", `/v1/runners/${runnerId}`);
}

export async function newRunner(): Promise<RegisteredRunner> {
  const runner = await registerRunner();
  registered.push(runner);
  return runner;
}

export async function newOnlineRunner(): Promise<RegisteredRunner & { scripted: ScriptedRunner }> {
  const runner = await newRunner();
  return { ...runner, scripted: await ScriptedRunner.online(runner) };
}

export function queueStub() {
  return env.JOB_QUEUE.get(env.JOB_QUEUE.idFromName("main"));
}

export function linkStub(runnerId: string) {
  return env.RUNNER_LINK.get(env.RUNNER_LINK.idFromName(runnerId));
}

export async function submitJob(changes: object = {}): Promise<Job> {
  hasSubmitted = true;
  const reply = await callEdge("POST", "/v1/jobs", {
    body: { kind: "benchmark", kernel: "triad", shape: { n: 64 }, ...changes },
  });
  expect(reply.status).toBe(202);
  return reply.json;
}

export async function readJob(id: string): Promise<Job> {
  return (await callEdge("GET", `/v1/jobs/${id}`)).json;
}

/** Lets every lease run out now: its time is set back and the alarm runs. */
export async function expireLeases(): Promise<void> {
  await runInDurableObject(queueStub(), async (_, { storage }) => {
    expect(await storage.getAlarm()).not.toBeNull();
    storage.sql.exec("update jobs set lease_until_ms = 1 where state = 'leased'");
  });
  await runDurableObjectAlarm(queueStub());
}

export async function countRuns(jobId: string): Promise<{ runs: number; points: number }> {
  const [runs, points] = await env.DB.batch<{ n: number }>([
    env.DB.prepare("select count(*) as n from runs where job_id = ?").bind(jobId),
    env.DB.prepare("select count(*) as n from points where run_id = ?").bind(jobId.replace("job_", "run_")),
  ]);
  return { runs: runs?.results[0]?.n ?? -1, points: points?.results[0]?.n ?? -1 };
}

/** A job's whole stream; returns when the edge ends it. */
export async function readEvents(id: string, lastEventId?: string): Promise<JobEvent[]> {
  const response = await fetchEdge("GET", `/v1/jobs/${id}/events`, {
    headers: lastEventId === undefined ? {} : { "last-event-id": lastEventId },
  });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  return [...(await response.text()).matchAll(/^id: (\d+)\nevent: (\w+)\ndata: (.*)$/gm)].map(([, seq, type, data]) => {
    const event = JSON.parse(data ?? "") as JobEvent;
    expect([String(event.seq), event.type]).toEqual([seq, type]);
    return event;
  });
}

/** Reads a stream of events until it holds this text. */
export async function readUntil(response: Response, text: string): Promise<void> {
  let read = "";
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    read += chunk;
    if (read.includes(text)) return;
  }
  throw new Error(`the stream ended without ${text}`);
}

/** Waits until the queue counts a runner as offline: its client and the database know that earlier. */
export async function untilOffline(runnerId: string): Promise<void> {
  const row = () =>
    runInDurableObject(queueStub(), (_, { storage }) =>
      storage.sql.exec<{ online: number }>("select online from runners where id = ?", runnerId).one(),
    );
  await expect.poll(row).toEqual({ online: 0 });
}
