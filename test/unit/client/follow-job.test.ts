import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createClient } from "../../../src/client/client.ts";
import { followJob, waitForJob } from "../../../src/client/jobs.ts";
import { createId } from "../../../src/protocol/wire/id.ts";
import { type Job, type JobEvent, JobSpec } from "../../../src/protocol/jobs/job.ts";
import { createProblem } from "../../../src/protocol/wire/problem.ts";
import { createRecordingFetch, events, json } from "./recording-fetch.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const id = createId("job");
const at = "2026-11-22T09:30:00.000Z";

function asText(seq: number, type: JobEvent["type"]): string {
  const event: JobEvent = { seq, at, type, attempt: 1, progress: null, detail: null };
  return `id: ${seq}\nevent: ${type}\ndata: ${JSON.stringify(event)}\n\n`;
}

const failed: Job = {
  id,
  state: "failed",
  spec: JobSpec.parse({ kind: "benchmark", kernel: "triad", shape: { n: 8 } }),
  attempt: 1,
  maxAttempts: 3,
  runnerId: null,
  runId: null,
  progress: null,
  result: null,
  problem: createProblem("kernel-invalid", "no"),
  submittedBy: null,
  createdAt: at,
  startedAt: at,
  endedAt: at,
};

it("gives the job as it ended, over connections that break", async () => {
  const { fetch, requests } = createRecordingFetch(
    events([asText(1, "queued"), asText(2, "leased")]),
    () => Promise.reject(new TypeError("fetch failed")),
    events([asText(3, "failed")], { open: true }),
    json(failed),
  );
  const ended = waitForJob(createClient({ baseUrl: "http://edge.test", fetch }), id);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await ended).toMatchObject({ id, state: "failed", problem: { code: "kernel-invalid" } });
  expect(requests.map(({ headers }) => headers.get("last-event-id"))).toEqual([null, "2", "2", null]);
});

it("yields every event, and ends with the last", async () => {
  const { fetch, requests } = createRecordingFetch(
    events([asText(1, "queued"), asText(2, "progress"), asText(3, "cancelled")], { open: true }),
  );
  const told = await Array.fromAsync(followJob(createClient({ baseUrl: "http://edge.test", fetch }), id));
  expect(told.map(({ type }) => type)).toEqual(["queued", "progress", "cancelled"]);
  expect(requests).toHaveLength(1);
});

it("throws where there is no such job, and where the caller aborts", async () => {
  const missing = createRecordingFetch(json(createProblem("not-found", "no"), 404, "application/problem+json"));
  const client = createClient({ baseUrl: "http://edge.test", fetch: missing.fetch });
  await expect(waitForJob(client, id)).rejects.toMatchObject({ problem: { code: "not-found" } });

  const abort = new AbortController();
  const { fetch, requests } = createRecordingFetch(() => {
    abort.abort(new Error("enough"));
    return events([asText(1, "queued")])();
  });
  const ended = waitForJob(createClient({ baseUrl: "http://edge.test", fetch }), id, { signal: abort.signal });
  await expect(ended).rejects.toThrow("enough");
  expect(requests).toHaveLength(1);
});
