import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { JobStore, PROGRESS_EVENTS } from "../../../src/edge/queue/job-store.ts";
import type { ObjectSql } from "../../../src/edge/store/migrate-object.ts";
import { BenchmarkSpec } from "../../../src/protocol/jobs/benchmark.ts";
import type { Capabilities } from "../../../src/protocol/fleet/hardware.ts";
import { createId } from "../../../src/protocol/wire/id.ts";
import type { Offer } from "../../../src/protocol/link.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import { createProblem } from "../../../src/protocol/wire/problem.ts";
import { callEdge, problemOf } from "../stack/edge-client.ts";
import { competitor } from "../stack/kernel-samples.ts";
import {
  countRuns,
  expireLeases,
  linkStub,
  newOnlineRunner,
  newRunner,
  queueStub,
  readEvents,
  readJob,
  submitJob,
  untilOffline,
} from "../stack/queue-client.ts";
import { BOUND } from "../stack/runner-script.ts";
import { benchmarkResult, capabilities, throughputResult } from "../stack/samples.ts";
import { ScriptedRunner } from "../stack/scripted-runner.ts";
import { troubleDatabase } from "../stack/troubled-database.ts";

/** The check of a new kernel as a runner gets it. */
let submissions = 0;
async function offerSubmitted(scripted: ScriptedRunner): Promise<Offer> {
  const body = { ...competitor, name: `queued-${submissions++}` };
  expect((await callEdge("POST", "/v1/kernels", { body })).status).toBe(201);
  return scripted.next("offer");
}

describe("a job", () => {
  it("is offered, reports progress, and ends in one run with its points", async () => {
    const { runnerId, scripted } = await newOnlineRunner();
    const { id } = await submitJob({ label: "main" });
    const offer = await scripted.next("offer");
    expect(offer).toMatchObject({
      lease: { jobId: id, epoch: 1 },
      attempt: 1,
      spec: { kernel: "triad", label: "main" },
      model: null,
    });
    scripted.send({ type: "jobProgress", lease: offer.lease, progress: { phase: "measure", done: 1, total: 2 } });
    await expect.poll(async () => (await readJob(id)).progress, BOUND).toEqual({ phase: "measure", done: 1, total: 2 });
    scripted.succeed(offer);
    expect(await scripted.next("jobSettled")).toMatchObject({ lease: offer.lease, stored: true });
    const job = await readJob(id);
    expect(job).toMatchObject({
      state: "succeeded",
      runnerId,
      attempt: 1,
      runId: id.replace("job_", "run_"),
      result: { kernel: "triad" },
      problem: null,
    });
    expect(await countRuns(id)).toEqual({ runs: 1, points: 2 });
  });

  it("waits while the runner's slot is taken, and gets it next", async () => {
    const { scripted } = await newOnlineRunner();
    const jobs = [await submitJob(), await submitJob(), await submitJob()];
    for (const { id } of jobs) {
      const offer = await scripted.next("offer");
      expect(offer.lease.jobId).toBe(id);
      expect(scripted.received).toEqual([]);
      scripted.succeed(offer);
      await scripted.next("jobSettled");
    }
  });

  it("waits for a runner that it is meant for", async () => {
    const { scripted } = await newOnlineRunner();
    const other = await newRunner();
    const pinned = await submitJob({ runnerId: other.runnerId });
    const fast = await submitJob({ profile: "gpu-accelerated" });
    const free = await submitJob();
    expect((await scripted.next("offer")).lease.jobId).toBe(free.id);
    const meant = await ScriptedRunner.online(other);
    expect((await meant.next("offer")).lease.jobId).toBe(pinned.id);
    expect((await readJob(fast.id)).state).toBe("queued");
  });

  it("is not held up by older ones that no runner can take, however many they are", async () => {
    const { scripted } = await newOnlineRunner();
    await runInDurableObject(queueStub(), (_, { storage }) => {
      const store = new JobStore(storage.sql);
      const spec = BenchmarkSpec.parse({ kind: "benchmark", kernel: "nobodys" });
      for (let count = 0; count < 450; count++) {
        const id = createId("job", count + 1);
        store.insert({
          id,
          project: "main",
          submittedBy: null,
          spec,
          profile: null,
          idempotencyKey: null,
          requestHash: "",
          createdAtMs: count,
          maxAttempts: 1,
        });
      }
    });
    const { id } = await submitJob();
    expect((await scripted.next("offer")).lease.jobId).toBe(id);
    // They are read once for a fleet, and again for the next one.
    const countRead = (fleet: string) =>
      runInDurableObject(queueStub(), (_, { storage }) => {
        const waiting = new JobStore(storage.sql).queuedFor(new Set(), fleet).get("main") ?? [];
        return [...waiting].filter(({ spec }) => spec.kind === "benchmark" && spec.kernel === "nobodys").length;
      });
    const { fleet } = await runInDurableObject(queueStub(), (_, { storage }) =>
      storage.sql
        .exec<{ fleet: string }>("select unfit_for as fleet from jobs where spec->>'kernel' = 'nobodys' limit 1")
        .one(),
    );
    expect(await countRead(fleet)).toBe(0);
    expect(await countRead("another")).toBe(450);
    await runInDurableObject(queueStub(), (_, { storage }) => {
      storage.sql.exec("delete from jobs where spec->>'kernel' = 'nobodys'");
    });
  });

  it("that no runner could take is offered once one can", async () => {
    const { scripted } = await newOnlineRunner();
    const { id } = await submitJob({ profile: "gpu-accelerated" });
    const free = await submitJob();
    const offer = await scripted.next("offer");
    expect(offer.lease.jobId).toBe(free.id);
    scripted.succeed(offer);
    await scripted.next("jobSettled");
    const markOf = () =>
      runInDurableObject(queueStub(), (_, { storage }) =>
        storage.sql.exec<{ unfit_for: string | null }>("select unfit_for from jobs where id = ?", id).one(),
      );
    expect((await markOf()).unfit_for).not.toBeNull();
    const gpu = { ...capabilities.devices[0]!, key: "gpu9", kind: "gpu" as const, software: false };
    const able = { ...capabilities, devices: [...capabilities.devices, gpu] };
    scripted.send({ type: "capabilities", capabilities: able });
    expect((await scripted.next("offer")).lease.jobId).toBe(id);
  });

  it("is not offered to a runner before its welcome", async () => {
    const { runnerId, credential, scripted } = await newOnlineRunner();
    // The queue still counts it as online when its next connection opens.
    const again = await ScriptedRunner.connect({ runnerId, credential });
    const { id } = await submitJob();
    const countEvents = () =>
      runInDurableObject(queueStub(), (_, { storage }) => new JobStore(storage.sql).eventsAfter(id, 0).length);
    await expect.poll(countEvents, BOUND).toBeGreaterThan(2);
    expect((await readJob(id)).attempt).toBe(0);
    expect(again.received).toEqual([]);
    again.send({ type: "hello", capabilities, running: [] });
    await again.next("welcome");
    expect(await again.next("offer")).toMatchObject({ lease: { jobId: id }, attempt: 1 });
    expect(scripted.received.filter(({ type }) => type === "offer")).toEqual([]);
  });

  it("of a newer release stops none of this one, and is counted", async () => {
    const { scripted } = await newOnlineRunner();
    const newer = (await submitJob({ runnerId: (await newRunner()).runnerId })).id;
    await runInDurableObject(queueStub(), (_, { storage }) => {
      storage.sql.exec(`update jobs set kind = 'newer', spec = json_object('kind', 'newer') where id = ?`, newer);
    });
    const before = await queueStub().countUnreadable();
    const { id } = await submitJob();
    expect((await scripted.next("offer")).lease.jobId).toBe(id);
    const { items } = (await callEdge("GET", "/v1/jobs?limit=200&state=queued")).json;
    expect(items.map((each: { id: string }) => each.id)).not.toContain(newer);
    expect((await callEdge("GET", `/v1/jobs/${newer}`)).status).toBe(404);
    expect(await queueStub().countUnreadable()).toBe(before + 1);
    await runInDurableObject(queueStub(), (_, { storage }) => {
      storage.sql.exec("delete from jobs where id = ?", newer);
    });
  });

  it("is found by its key though what it names is gone since", async () => {
    await newOnlineRunner();
    const profile = { name: "short-lived", requirements: {} };
    expect((await callEdge("POST", "/v1/profiles", { body: profile })).status).toBe(201);
    const body = { kind: "benchmark", kernel: "triad", shape: { n: 64 }, profile: "short-lived" };
    const headers = { "idempotency-key": "once-and-again" };
    const first = await callEdge("POST", "/v1/jobs", { body, headers });
    expect(first.status).toBe(202);
    expect((await callEdge("DELETE", "/v1/profiles/short-lived")).status).toBe(204);
    const again = await callEdge("POST", "/v1/jobs", { body, headers });
    expect(again.json.id).toBe(first.json.id);
    expect((await callEdge("POST", "/v1/jobs", { body })).status).toBe(400);
  });

  it("keeps a bounded number of its progress, over its whole time", async () => {
    await newOnlineRunner();
    const { id } = await submitJob({ runnerId: (await newRunner()).runnerId });
    const kept = await runInDurableObject(queueStub(), (_, { storage }) => {
      const store = new JobStore(storage.sql);
      for (let done = 0; done < 5 * PROGRESS_EVENTS; done++) {
        const progress = { phase: "run", done, total: 0 };
        store.addEvent({ type: "progress", attempt: 1, progress, detail: null }, id, done);
      }
      return store.eventsAfter(id, 0).flatMap(({ progress }) => progress?.done ?? []);
    });
    // Thinned by chance, every 64th time on average.
    expect(kept.length).toBeLessThanOrEqual(PROGRESS_EVENTS + 1_000);
    expect(kept.length).toBeGreaterThan(PROGRESS_EVENTS / 4);
    expect(kept.at(-1)).toBe(5 * PROGRESS_EVENTS - 1);
    expect(kept.filter((done) => done < PROGRESS_EVENTS).length).toBeGreaterThan(50);
  });

  it("fails with a problem that lists can hold, however long its runner's is", async () => {
    const { scripted } = await newOnlineRunner();
    const { id } = await submitJob();
    const offer = await scripted.next("offer");
    const long = "x".repeat(3_000_000);
    const errors = Array.from({ length: 100 }, () => ({ pointer: "#/".repeat(5_000), message: "y".repeat(10_000) }));
    const problem = createProblem("kernel-invalid", long, { errors });
    scripted.send({ type: "jobOutcome", lease: offer.lease, outcome: { ok: false, problem } });
    await scripted.next("jobSettled");
    const job = await readJob(id);
    expect(job).toMatchObject({ state: "failed", problem: { code: "kernel-invalid" } });
    expect(JSON.stringify(job.problem).length).toBeLessThan(25_000);
  });

  it("fails where its result is too large for a row, and its lease is not kept for ever", async () => {
    const { scripted } = await newOnlineRunner();
    const { id } = await submitJob();
    const offer = await scripted.next("offer");
    const result = benchmarkResult();
    const correctness = { ...result.correctness, tolerance: "x".repeat(LIMITS.jobResultBytes) };
    scripted.succeed(offer, { ...result, correctness });
    expect(await scripted.next("jobSettled")).toMatchObject({ lease: offer.lease });
    expect(await readJob(id)).toMatchObject({ state: "failed", problem: { code: "payload-too-large" } });
  });

  it("has its result wherever it is shown once it has ended", async () => {
    const { scripted } = await newOnlineRunner();
    const sent = {
      body: { kind: "benchmark", kernel: "triad", shape: { n: 64 } },
      headers: { "idempotency-key": "ended" },
    };
    const { id } = (await callEdge("POST", "/v1/jobs", sent)).json;
    const offer = await scripted.next("offer");
    scripted.succeed(offer);
    await scripted.next("jobSettled");
    const job = await readJob(id);
    expect(job).toMatchObject({ id, state: "succeeded", result: benchmarkResult() });
    const again = await callEdge("POST", "/v1/jobs", sent);
    expect(again).toMatchObject({ status: 202, json: job });
    expect(again.headers.get("location")).toBe(`/v1/jobs/${id}`);
    expect((await callEdge("POST", `/v1/jobs/${id}/cancel`)).json).toEqual(job);
  });

  it("waits while the only runner drains", async () => {
    const { runnerId, scripted } = await newOnlineRunner();
    await callEdge("POST", `/v1/runners/${runnerId}/drain`);
    const { id } = await submitJob();
    expect((await readJob(id)).state).toBe("queued");
    await callEdge("POST", `/v1/runners/${runnerId}/resume`);
    expect((await scripted.next("offer")).lease.jobId).toBe(id);
  });
});

describe("an attempt that fails", () => {
  it("is made again while the problem may pass, and the job fails when it may not", async () => {
    const { scripted } = await newOnlineRunner();
    const { id } = await submitJob();
    const first = await scripted.next("offer");
    scripted.send({
      type: "jobOutcome",
      lease: first.lease,
      outcome: { ok: false, problem: createProblem("device-lost", "It died.") },
    });
    expect((await scripted.next("jobSettled")).stored).toBe(true);
    const second = await scripted.next("offer");
    expect(second).toMatchObject({ lease: { jobId: id, epoch: 2 }, attempt: 2 });
    scripted.send({
      type: "jobOutcome",
      lease: second.lease,
      outcome: { ok: false, problem: createProblem("kernel-incorrect", "It is wrong.") },
    });
    await scripted.next("jobSettled");
    expect(await readJob(id)).toMatchObject({
      state: "failed",
      attempt: 2,
      problem: { code: "kernel-incorrect" },
      runId: null,
    });
    expect((await readEvents(id)).map(({ type }) => type)).toEqual([
      "queued",
      "leased",
      "requeued",
      "leased",
      "failed",
    ]);
    expect(await countRuns(id)).toEqual({ runs: 0, points: 0 });
  });
});

describe("a result whose run was stored before its lease ended", () => {
  it("is the one that counts, for the job as for the history, though a later attempt has another", async () => {
    const { scripted } = await newOnlineRunner();
    const { id } = await submitJob();
    const first = await scripted.next("offer");
    // The run is stored, its points are not.
    const statements = { done: 0 };
    const heal = await troubleDatabase(queueStub(), (run) =>
      statements.done++ === 0 ? run() : Promise.reject(new Error("away")),
    );
    scripted.succeed(first, benchmarkResult([1, 2, 3]));
    await expect.poll(() => countRuns(id), BOUND).toEqual({ runs: 1, points: 0 });
    await expect.poll(() => statements.done, BOUND).toBeGreaterThan(1);
    await heal();
    await expireLeases();
    scripted.succeed(await scripted.next("offer"), { ...benchmarkResult([7, 8, 9]), variant: "other" });
    await scripted.next("jobSettled");
    const job = await readJob(id);
    const run = (await callEdge("GET", `/v1/runs/${job.runId}`)).json;
    expect(job).toMatchObject({ state: "succeeded", attempt: 2 });
    expect(run).toMatchObject({ attempt: 1, result: benchmarkResult([1, 2, 3]) });
    expect(job.result).toEqual(run.result);
    const { items } = (await callEdge("GET", `/v1/history/series?subject=triad&variant=other`)).json;
    expect(items).toEqual([]);
    expect(await countRuns(id)).toEqual({ runs: 1, points: 2 });
  });
});

describe("a failure of a submitted kernel", () => {
  const failure = { ok: false, problem: createProblem("kernel-invalid", "It does not compile.") } as const;

  it("ends its job though the database is away", async () => {
    const { scripted } = await newOnlineRunner();
    const { lease } = await offerSubmitted(scripted);
    const heal = await troubleDatabase(queueStub(), () => Promise.reject(new Error("away")));
    scripted.send({ type: "jobOutcome", lease, outcome: failure });
    expect((await scripted.next("jobSettled")).stored).toBe(true);
    await heal();
    expect(await readJob(lease.jobId)).toMatchObject({ state: "failed", problem: { code: "kernel-invalid" } });
  });

  it("does not end a job that was cancelled while it was written down", async () => {
    const { scripted } = await newOnlineRunner();
    const { lease } = await offerSubmitted(scripted);
    const note = { isReached: false, isHeld: true };
    const heal = await troubleDatabase(queueStub(), async (run) => {
      note.isReached = true;
      while (note.isHeld) await scheduler.wait(5);
      return run();
    });
    scripted.send({ type: "jobOutcome", lease, outcome: failure });
    await expect.poll(() => note.isReached, BOUND).toBe(true);
    await callEdge("POST", `/v1/jobs/${lease.jobId}/cancel`);
    note.isHeld = false;
    expect((await scripted.next("jobSettled")).stored).toBe(false);
    await heal();
    expect((await readJob(lease.jobId)).state).toBe("cancelled");
  });
});

describe("a result whose distributions cannot be read", () => {
  it.each([
    ["no sketch", { sketch: "garbage" }],
    ["a sketch of other samples", { count: 4 }],
    ["no samples", { count: 0 }],
    ["crossed extremes", { min: 9 }],
  ])("such as %s fails the job and is not stored", async (_, changes) => {
    const { scripted } = await newOnlineRunner();
    const { id } = await submitJob();
    const result = benchmarkResult();
    scripted.succeed(await scripted.next("offer"), { ...result, wallMs: { ...result.wallMs, ...changes } });
    await scripted.next("jobSettled");
    expect(await readJob(id)).toMatchObject({ state: "failed", problem: { code: "backend-failed" }, result: null });
    expect(await countRuns(id)).toEqual({ runs: 0, points: 0 });
  });
});

describe("a throughput job", () => {
  it("leaves its rate, share and latency in the history, by the depth that was found", async () => {
    const { scripted } = await newOnlineRunner();
    const { id } = await submitJob({ kind: "throughput" });
    const result = throughputResult();
    scripted.succeed(await scripted.next("offer"), result);
    expect((await scripted.next("jobSettled")).stored).toBe(true);
    expect(await readJob(id)).toMatchObject({ state: "succeeded", result });
    expect(await countRuns(id)).toEqual({ runs: 1, points: 3 });
    const { items } = (await callEdge("GET", "/v1/history/series?subject=triad&metric=busyShare")).json;
    expect(items).toMatchObject([{ configuration: { n: 64, depth: 2 }, direction: "higher", clock: "gpu-timestamp" }]);
  });

  it("fails where the result is of another kind or element type", async () => {
    const { scripted } = await newOnlineRunner();
    for (const result of [benchmarkResult(), { ...throughputResult(), dtype: "int32" as const }]) {
      const { id } = await submitJob({ kind: "throughput", dtype: "float32" });
      scripted.succeed(await scripted.next("offer"), result);
      await scripted.next("jobSettled");
      expect(await readJob(id)).toMatchObject({ state: "failed", problem: { code: "backend-failed" } });
    }
  });
});

describe("a lease", () => {
  it("that runs out is given again, and the job fails after the last attempt", async () => {
    const { scripted } = await newOnlineRunner();
    const { id, maxAttempts } = await submitJob();
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      expect(await scripted.next("offer")).toMatchObject({ lease: { jobId: id, epoch: attempt }, attempt });
      await expireLeases();
    }
    expect(await readJob(id)).toMatchObject({
      state: "failed",
      attempt: maxAttempts,
      problem: { code: "lease-expired" },
    });
    expect(scripted.received).toEqual([]);
  });

  it("that has ended makes its late result worthless: the job ends once, by the new one", async () => {
    const { scripted } = await newOnlineRunner();
    const { id } = await submitJob();
    const old = await scripted.next("offer");
    await expireLeases();
    const current = await scripted.next("offer");
    scripted.succeed(old);
    expect(await scripted.next("jobSettled")).toMatchObject({ lease: old.lease, stored: false });
    expect((await readJob(id)).state).toBe("leased");
    expect(await countRuns(id)).toEqual({ runs: 0, points: 0 });
    scripted.succeed(current);
    expect(await scripted.next("jobSettled")).toMatchObject({ lease: current.lease, stored: true });
    scripted.succeed(old);
    expect(await scripted.next("jobSettled")).toMatchObject({ lease: old.lease, stored: false });
    expect(await readJob(id)).toMatchObject({ state: "succeeded", attempt: 2 });
    expect(await countRuns(id)).toEqual({ runs: 1, points: 2 });
    expect((await readEvents(id)).filter(({ type }) => type === "succeeded")).toHaveLength(1);
  });

  it("belongs to its runner: another one's outcome, progress or renewal does nothing", async () => {
    const { scripted } = await newOnlineRunner();
    const { id } = await submitJob();
    const offer = await scripted.next("offer");
    const thief = await newOnlineRunner();
    thief.scripted.send({ type: "jobProgress", lease: offer.lease, progress: { phase: "stolen", done: 1, total: 1 } });
    thief.scripted.succeed(offer);
    expect((await thief.scripted.next("jobSettled")).stored).toBe(false);
    thief.scripted.send({ type: "heartbeat", running: [offer.lease] });
    expect((await thief.scripted.next("jobCancel")).lease).toEqual(offer.lease);
    expect(await readJob(id)).toMatchObject({ state: "leased", progress: null });
  });

  it("is kept by a runner that comes back with it, and ended at once by one without", async () => {
    const runner = await newRunner();
    const first = await ScriptedRunner.online(runner);
    const { id } = await submitJob();
    const { lease } = await first.next("offer");
    first.socket.close(1000, "cut");
    await first.nextClose();
    const stale = { ...lease, epoch: 9 };
    const second = await ScriptedRunner.online(runner, [lease, stale]);
    expect((await second.next("jobCancel")).lease).toEqual(stale);
    expect(await readJob(id)).toMatchObject({ state: "leased", attempt: 1 });
    second.socket.close(1000, "restarted");
    await second.nextClose();
    const third = await ScriptedRunner.online(runner);
    expect(await third.next("offer")).toMatchObject({ lease: { jobId: id, epoch: 2 }, attempt: 2 });
  });

  it("of a runner that vanished goes to another when it runs out", async () => {
    const { scripted, runnerId } = await newOnlineRunner();
    const { id } = await submitJob();
    await scripted.next("offer");
    scripted.socket.close(1000, "gone");
    await untilOffline(runnerId);
    expect((await callEdge("GET", `/v1/runners/${runnerId}`)).json.state).toBe("offline");
    expect((await readJob(id)).state).toBe("leased");
    await expireLeases();
    expect((await readJob(id)).state).toBe("queued");
    const other = await newOnlineRunner();
    expect((await other.scripted.next("offer")).lease).toEqual({ jobId: id, epoch: 2 });
  });

  it("of a runner that is removed ends with it", async () => {
    const { scripted, runnerId } = await newOnlineRunner();
    const { id } = await submitJob();
    await scripted.next("offer");
    await callEdge("DELETE", `/v1/runners/${runnerId}`);
    expect(await readJob(id)).toMatchObject({ state: "queued", attempt: 1, problem: { code: "runner-lost" } });
  });

  it("that only a removed runner could take ends the job", async () => {
    const { runnerId } = await newOnlineRunner();
    await callEdge("POST", `/v1/runners/${runnerId}/drain`);
    const { id } = await submitJob({ runnerId });
    await callEdge("DELETE", `/v1/runners/${runnerId}`);
    expect(await readJob(id)).toMatchObject({ state: "failed", attempt: 0, problem: { code: "runner-lost" } });
  });

  it("of a cancelled job is taken back, and its result refused", async () => {
    const { scripted } = await newOnlineRunner();
    const { id } = await submitJob();
    const offer = await scripted.next("offer");
    await callEdge("POST", `/v1/jobs/${id}/cancel`);
    expect((await scripted.next("jobCancel")).lease).toEqual(offer.lease);
    scripted.succeed(offer);
    expect((await scripted.next("jobSettled")).stored).toBe(false);
    expect((await readJob(id)).state).toBe("cancelled");
    expect(await countRuns(id)).toEqual({ runs: 0, points: 0 });
  });
});

describe("a benchmark whose runner was lost", () => {
  /** Another machine than that of the other scripted runners. */
  const otherMachine: Capabilities = {
    ...capabilities,
    devices: capabilities.devices.map((device) => ({
      ...device,
      name: `Other ${device.name}`,
      fingerprint: { ...device.fingerprint, cpu: "Other CPU" },
    })),
  };

  it("names the other device that ran it: by its events, its attempt, its runner and its run", async () => {
    const lost = await newOnlineRunner();
    const { id } = await submitJob();
    const { lease } = await lost.scripted.next("offer");
    const problem = createProblem("runner-lost", "The runner was stopped.");
    lost.scripted.send({ type: "leaving" });
    lost.scripted.send({ type: "jobOutcome", lease, outcome: { ok: false, problem } });
    expect((await lost.scripted.next("jobSettled")).stored).toBe(true);
    const other = await newRunner();
    const scripted = await ScriptedRunner.connect(other);
    scripted.send({ type: "hello", capabilities: otherMachine, running: [] });
    const offer = await scripted.next("offer");
    expect(offer).toMatchObject({ lease: { jobId: id, epoch: 2 }, attempt: 2 });
    const result = benchmarkResult();
    const [, device] = otherMachine.devices;
    const ran = { deviceName: device!.name, fingerprint: device!.fingerprint };
    scripted.succeed(offer, { ...result, environment: { ...result.environment, ...ran } });
    expect((await scripted.next("jobSettled")).stored).toBe(true);
    expect(await readJob(id)).toMatchObject({ attempt: 2, runnerId: other.runnerId, result: { environment: ran } });
    expect((await readEvents(id)).map(({ type, attempt, detail }) => [type, attempt, detail])).toEqual([
      ["queued", 0, null],
      ["leased", 1, null],
      ["requeued", 1, "The runner was stopped."],
      ["leased", 2, null],
      ["succeeded", 2, null],
    ]);
    const run = (await callEdge("GET", `/v1/runs/${id.replace("job_", "run_")}`)).json;
    expect(run).toMatchObject({ runnerId: other.runnerId, result: { environment: ran } });
  });

  it("waits for it where it was meant for it alone", async () => {
    const lost = await newRunner();
    const first = await ScriptedRunner.online(lost);
    const { id } = await submitJob({ runnerId: lost.runnerId });
    await first.next("offer");
    const other = await newOnlineRunner();
    first.socket.close(1000, "gone");
    await untilOffline(lost.runnerId);
    await expireLeases();
    const free = await submitJob();
    expect((await other.scripted.next("offer")).lease.jobId).toBe(free.id);
    expect(await readJob(id)).toMatchObject({ state: "queued", attempt: 1, problem: { code: "lease-expired" } });
    const back = await ScriptedRunner.online(lost);
    expect(await back.next("offer")).toMatchObject({ lease: { jobId: id, epoch: 2 }, attempt: 2 });
    expect(other.scripted.received.filter(({ type }) => type === "offer")).toEqual([]);
  });
});

describe("an outcome that is sent again", () => {
  it("is answered as stored and leaves one run and its points once", async () => {
    const { scripted } = await newOnlineRunner();
    const { id } = await submitJob();
    const offer = await scripted.next("offer");
    for (let i = 0; i < 3; i++) scripted.succeed(offer);
    for (let i = 0; i < 3; i++)
      expect(await scripted.next("jobSettled")).toMatchObject({ lease: offer.lease, stored: true });
    scripted.succeed(offer);
    expect(await scripted.next("jobSettled")).toMatchObject({ lease: offer.lease, stored: true });
    expect(await countRuns(id)).toEqual({ runs: 1, points: 2 });
    expect((await readEvents(id)).map(({ type }) => type)).toEqual(["queued", "leased", "succeeded"]);
  });

  it("of a failure does not end the attempt after it", async () => {
    const { scripted } = await newOnlineRunner();
    const { id } = await submitJob();
    const { lease } = await scripted.next("offer");
    const failure = {
      type: "jobOutcome",
      lease,
      outcome: { ok: false, problem: createProblem("device-lost", "It died.") },
    } as const;
    scripted.send(failure);
    await scripted.next("offer");
    scripted.send(failure);
    await scripted.next("jobSettled");
    expect((await scripted.next("jobSettled")).stored).toBe(false);
    expect(await readJob(id)).toMatchObject({ state: "leased", attempt: 2 });
  });
});

describe("eviction in mid-lease", () => {
  it("of the queue loses nothing", async () => {
    const { scripted } = await newOnlineRunner();
    const { id } = await submitJob();
    const waiting = await submitJob();
    const offer = await scripted.next("offer");
    scripted.send({ type: "jobProgress", lease: offer.lease, progress: { phase: "half", done: 1, total: 2 } });
    await expect.poll(async () => (await readJob(id)).progress?.phase, BOUND).toBe("half");
    const before = await readJob(id);
    await evictDurableObject(queueStub());
    expect(await readJob(id)).toEqual(before);
    scripted.succeed(offer);
    expect((await scripted.next("jobSettled")).stored).toBe(true);
    expect((await scripted.next("offer")).lease.jobId).toBe(waiting.id);
  });

  it("of the queue leaves its alarm, which ends the lease", async () => {
    const { scripted } = await newOnlineRunner();
    const { id } = await submitJob();
    await scripted.next("offer");
    await evictDurableObject(queueStub());
    await expireLeases();
    expect((await scripted.next("offer")).lease).toEqual({ jobId: id, epoch: 2 });
  });

  it("of the link keeps the socket and what comes over it", async () => {
    const { scripted, runnerId } = await newOnlineRunner();
    const { id } = await submitJob();
    const offer = await scripted.next("offer");
    await evictDurableObject(linkStub(runnerId));
    scripted.succeed(offer);
    expect((await scripted.next("jobSettled")).stored).toBe(true);
    expect(scripted.closed).toBeNull();
    expect((await readJob(id)).state).toBe("succeeded");
  });
});

describe("the events of a job", () => {
  it("follow it to its end, and are replayed behind Last-Event-ID", async () => {
    const { scripted } = await newOnlineRunner();
    const { id } = await submitJob();
    const live = readEvents(id);
    const offer = await scripted.next("offer");
    scripted.send({ type: "jobProgress", lease: offer.lease, progress: { phase: "a", done: 1, total: 2 } });
    scripted.succeed(offer);
    const events = await live;
    expect(events.map(({ type }) => type)).toEqual(["queued", "leased", "progress", "succeeded"]);
    expect(await readEvents(id)).toEqual(events);
    for (let i = 0; i < events.length; i++)
      expect(await readEvents(id, String(events[i]?.seq))).toEqual(events.slice(i + 1));
    expect(await readEvents(id, "nonsense")).toEqual(events);
  });

  it("of a long job come all, in order, though they are more than a stream holds at once", async () => {
    await newOnlineRunner();
    const { id } = await submitJob({ runnerId: (await newRunner()).runnerId });
    await runInDurableObject(queueStub(), (_, { storage }) => {
      const store = new JobStore(storage.sql);
      for (let count = 0; count < 1_500; count++)
        store.addEvent(
          { type: "leased", attempt: 1, progress: null, detail: `${count} ${"x".repeat(200)}` },
          id,
          count,
        );
    });
    const live = readEvents(id);
    await callEdge("POST", `/v1/jobs/${id}/cancel`);
    for (const events of [await live, await readEvents(id)]) {
      expect(events).toHaveLength(1_502);
      expect(events.map(({ seq }) => seq)).toEqual(events.map(({ seq }) => seq).toSorted((a, b) => a - b));
      expect(events.at(-1)?.type).toBe("cancelled");
    }
  });

  it("keep what a runner was offered since its hello, and end what it came back without", async () => {
    const { runnerId, scripted } = await newOnlineRunner();
    const { id } = await submitJob();
    await scripted.next("offer");
    const owner = { project: "main", shared: false };
    const state = { id: runnerId, ...owner, draining: false, jobsLeft: null, capabilities };
    await queueStub().runnerConnected(state, [], Date.now() - 60_000);
    expect((await readJob(id)).state).toBe("leased");
    const lost = queueStub().runnerConnected(state, [], Date.now() + 60_000);
    await lost;
    expect((await scripted.next("offer")).attempt).toBe(2);
  });

  it("of a job that is not there are a problem", async () => {
    expect(problemOf(await callEdge("GET", `/v1/jobs/job_${"0".repeat(26)}/events`)).code).toBe("not-found");
  });
});

it("calibrations of a version are found by an index, however many jobs a project has", async () => {
  const plan = await runInDurableObject(queueStub(), (_, { storage }) => {
    const details: string[] = [];
    const exec: typeof storage.sql.exec = (query, ...bindings) => {
      const rows = storage.sql.exec(`explain query plan ${query}`, ...bindings).toArray();
      details.push(...rows.map(({ detail }) => JSON.stringify(detail)));
      return storage.sql.exec(query, ...bindings);
    };
    const store = new JobStore({ exec });
    store.latestCalibrations("main", ["ver_a", "ver_b"]);
    store.findCalibration(["queued"], "rnr_a", "ver_a");
    return details.filter((detail) => detail.includes("jobs"));
  });
  expect(plan).toHaveLength(3);
  expect(plan.filter((detail) => detail.includes("SEARCH jobs USING INDEX calibrations_of_version"))).toHaveLength(2);
});

it("a look for waiting jobs reads none that wait for a runner which is away, or for another fleet", async () => {
  const [away, ready] = [createId("runner"), createId("runner")];
  const rowsRead = await runInDurableObject(env.JOB_QUEUE.get(env.JOB_QUEUE.newUniqueId()), (_, { storage }) => {
    let read = 0;
    let atMs = 0;
    const exec = ((query, ...bindings) => {
      const cursor = storage.sql.exec(query, ...bindings);
      const rows = cursor.toArray();
      read += cursor.rowsRead;
      return Object.assign(rows.values(), { toArray: () => rows });
    }) as ObjectSql["exec"];
    const store = new JobStore({ exec });
    const about = { submittedBy: null, profile: null, idempotencyKey: null, requestHash: "", createdAtMs: 1 };
    const insert = (project: string, runnerId?: string) => {
      const spec = BenchmarkSpec.parse({ kind: "benchmark", kernel: "triad", ...(runnerId && { runnerId }) });
      // Ids of one millisecond have no order.
      const id = createId("job", ++atMs);
      store.insert({ ...about, id, project, spec, maxAttempts: 1 });
      return id;
    };
    for (let count = 0; count < 500; count++) {
      store.markUnfit(insert("hostile"), "fleet");
      insert("hostile", away);
    }
    const wanted = [insert("other"), insert("other", ready), insert("hostile", ready)];
    read = 0;
    expect(store.hasQueuedFor(ready, "fleet")).toBe(true);
    const found = [...store.queuedFor(new Set([ready]), "fleet")].map(([project, jobs]) => [
      project,
      [...jobs].map(({ record }) => record.id),
    ]);
    expect(found).toEqual([
      ["other", wanted.slice(0, 2)],
      ["hostile", wanted.slice(2)],
    ]);
    return read;
  });
  expect(rowsRead).toBeLessThan(50);
});
