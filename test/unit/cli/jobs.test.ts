import { describe, expect, it } from "vitest";
import { verdictCode } from "../../../src/cli/jobs/submit-job.ts";
import { runProgram } from "../../../src/cli/program.ts";
import type { Job, JobEvent } from "../../../src/protocol/jobs/job.ts";
import { createProblem } from "../../../src/protocol/wire/problem.ts";
import { createTestShell, type Ended } from "./test-shell.ts";

const ID = "job_01k00000000000000000000000";
const AT = "2026-11-22T12:00:00.000Z";

const event = (seq: number, type: JobEvent["type"], change: Partial<JobEvent> = {}): JobEvent => ({
  seq,
  at: AT,
  type,
  attempt: 1,
  progress: null,
  detail: null,
  ...change,
});
const measuring = event(3, "progress", { progress: { phase: "measure", done: 1, total: 4 } });

function job(state: Job["state"], change: Partial<Job> = {}): Job {
  const spec = { kind: "tuning", kernel: "gemm", shape: {}, budgetMs: 1_000, seed: 1, fresh: false } as const;
  const times = { submittedBy: null, createdAt: AT, startedAt: AT, endedAt: AT };
  const parts = {
    attempt: 1,
    maxAttempts: 3,
    runnerId: null,
    runId: null,
    progress: null,
    result: null,
    problem: null,
  };
  return { id: ID, state, spec, ...parts, ...times, ...change };
}

/** An edge with one job: its stream gives these events, and ends only where the job does. */
function edgeWith(events: readonly JobEvent[], ended: Job, onStream: () => void = () => {}): typeof fetch {
  return async (url, init) => {
    const { pathname } = new URL(url as string);
    if (pathname === `/v1/jobs/${ID}`) return Response.json(ended);
    if (pathname !== `/v1/jobs/${ID}/events`) throw new TypeError(`nothing is at ${pathname}`);
    const text = events.map((each) => `id: ${each.seq}\nevent: ${each.type}\ndata: ${JSON.stringify(each)}\n\n`);
    const isOver = events.some(({ type }) => type === "succeeded" || type === "failed" || type === "cancelled");
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        controller.enqueue(new TextEncoder().encode(text.join("")));
        if (isOver) controller.close();
        init?.signal?.addEventListener("abort", () => controller.error(init.signal?.reason));
        // After the reader of the events.
        setTimeout(onStream);
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
}

async function watch(fetch: typeof globalThis.fetch, ...options: string[]): Promise<Ended> {
  const shell = createTestShell({ fetch });
  await runProgram(["jobs", "watch", ID, ...options], shell);
  return shell.ended();
}

describe("millrace jobs watch", () => {
  it("reports each phase once, and ends as the job did", async () => {
    const again = event(4, "progress", { progress: { phase: "measure", done: 2, total: 4 } });
    const events = [event(1, "queued"), event(2, "leased"), measuring, again];
    const problem = createProblem("device-lost", "The device is gone.");
    expect(await watch(edgeWith([...events, event(5, "failed")], job("failed", { problem })))).toEqual({
      code: 9,
      out: "",
      err: `queued\ntaken by a runner\nmeasure\nmillrace: ${ID} failed: The device is gone.\n`,
    });
    expect(await watch(edgeWith([...events, event(5, "cancelled")], job("cancelled")))).toMatchObject({ code: 11 });
    expect(await watch(edgeWith([...events, event(5, "succeeded")], job("succeeded")))).toMatchObject({
      code: 0,
      out: `${ID} left no result.\n`,
    });
  });

  it("prints its events as NDJSON, and nothing else", async () => {
    const events = [event(1, "queued"), measuring, event(5, "succeeded")];
    const { code, out, err } = await watch(edgeWith(events, job("succeeded")), "--json");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(
      out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual(events);
  });

  it("leaves the job at Ctrl-C, and says how to come back and how to end it", async () => {
    const shell = createTestShell({
      fetch: edgeWith([event(1, "queued"), measuring], job("leased"), () => shell.interrupt()),
    });
    await runProgram(["jobs", "watch", ID], shell);
    expect(shell.ended()).toMatchObject({ code: 130, out: "" });
    expect(shell.ended().err).toContain(`Follow it: millrace jobs watch ${ID}. End it: millrace jobs cancel ${ID}.`);
  });
});

describe("a verdict", () => {
  const codeOf = (result: object | null, spec: object = {}) =>
    verdictCode({ spec, result } as Pick<Job, "spec" | "result">);
  it("is 1 for no, 3 for too little evidence, else 0", () => {
    expect(["pass", "fail", "insufficient"].map((verdict) => codeOf({ kind: "validation", verdict }))).toEqual([
      0, 1, 3,
    ]);
    expect([0, null].map((best) => codeOf({ kind: "optimisation", best }))).toEqual([0, 1]);
    expect([true, false].map((ok) => codeOf({ kind: "probe", ok }))).toEqual([0, 1]);
    const training = { kind: "training", solvedAtGeneration: null };
    expect(codeOf(training, { kind: "training" })).toBe(0);
    expect(codeOf(training, { kind: "training", stopAt: 475 })).toBe(1);
    expect(codeOf({ ...training, solvedAtGeneration: 3 }, { kind: "training", stopAt: 475 })).toBe(0);
    expect([null, { kind: "benchmark" }].map((result) => codeOf(result))).toEqual([0, 0]);
  });
});
