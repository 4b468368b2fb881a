import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { measureOutcomes, type RequestOutcome } from "../../../src/edge/history/request-measurements.ts";
import { configOf } from "../../../src/edge/config.ts";
import { HELLO_MS } from "../../../src/edge/link/keep-connection.ts";
import { ANNOUNCED, PROGRESS, STORED } from "../../../src/edge/link/find-excess.ts";
import { Outbox } from "../../../src/edge/link/outbox.ts";
import { appendMeasurements } from "../../../src/edge/store/history/point-store.ts";
import { JobStore } from "../../../src/edge/queue/job-store.ts";
import { createId } from "../../../src/protocol/wire/id.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import { CLOSE_CODES, PING } from "../../../src/protocol/link.ts";
import { attach, attachmentOf } from "../../../src/edge/link/runner-socket.ts";
import { createProblem } from "../../../src/protocol/wire/problem.ts";
import { MAIN_PROJECT } from "../../../src/protocol/service/project.ts";
import { callEdge, fetchEdge } from "../stack/edge-client.ts";
import {
  linkStub,
  newOnlineRunner,
  newRunner,
  queueStub,
  readJob,
  readUntil,
  submitJob,
} from "../stack/queue-client.ts";
import { capabilities } from "../stack/samples.ts";
import { BOUND } from "../stack/runner-script.ts";
import { ScriptedRunner } from "../stack/scripted-runner.ts";
import { stopClock } from "../stack/stopped-clock.ts";
import { troubleDatabase } from "../stack/troubled-database.ts";

const stateOf = async (id: string) => (await callEdge("GET", `/v1/runners/${id}`)).json.state;

const countEvents = (id: string) =>
  runInDurableObject(queueStub(), (_, { storage }) => new JobStore(storage.sql).eventsAfter(id, 0).length);

afterEach(() => vi.restoreAllMocks());

describe("the socket", () => {
  it("is welcomed with the intervals that the edge dictates", async () => {
    const runner = await newRunner();
    const scripted = await ScriptedRunner.connect(runner);
    scripted.send({ type: "hello", capabilities, running: [] });
    const welcome = await scripted.next("welcome");
    expect(welcome).toMatchObject({ runnerId: runner.runnerId, placed: [] });
    expect(Object.values(welcome.intervals).every((ms) => (ms ?? 0) > 0)).toBe(true);
    scripted.send({ type: "echo", id: 7 });
    expect((await scripted.next("echoReply")).id).toBe(7);
  });

  it("is closed for what is not of the protocol, and only for that", async () => {
    const garbage = [
      "{",
      "null",
      '{"type":7}',
      '{"type":""}',
      '{"type":"hello"}',
      '{"type":"heartbeat","running":[{"jobId":"x","epoch":0}]}',
      new Uint8Array([1, 2, 3]),
      new Uint8Array([255, 255, 255, 255, 0]),
    ];
    for (const message of garbage) {
      const { scripted } = await newOnlineRunner();
      scripted.socket.send(message);
      expect((await scripted.nextClose()).code, String(message)).toBe(CLOSE_CODES.protocolError);
    }
  });

  it("is closed where a runner tells the queue more than it may, and not for answers and echoes", async () => {
    const { scripted } = await newOnlineRunner();
    const problem = createProblem("overloaded", "full");
    // However long the messages take.
    stopClock();
    for (let id = 0; id <= STORED.burst; id++) {
      scripted.send({ type: "inferFailed", requestId: createId("request"), problem });
      scripted.send({ type: "echo", id });
    }
    const last = { type: "echoReply", id: STORED.burst };
    await vi.waitFor(() => expect(scripted.received.at(-1)).toEqual(last), BOUND);
    for (let count = 0; count <= STORED.burst; count++) scripted.send({ type: "heartbeat", running: [] });
    const { code, reason } = await scripted.nextClose();
    expect(code).toBe(CLOSE_CODES.protocolError);
    expect(reason).toContain("messages a second");
  });

  it("gives its runner no work before its welcome, beats or not, and ends without a hello", async () => {
    const runner = await newRunner();
    const first = await ScriptedRunner.online(runner);
    const silent = await ScriptedRunner.connect(runner);
    expect((await first.nextClose()).code).toBe(CLOSE_CODES.replaced);
    const { id } = await submitJob();
    await expect.poll(() => countEvents(id), BOUND).toBe(3);
    for (let count = 0; count < 20; count++) silent.send({ type: "heartbeat", running: [] });
    silent.send({ type: "echo", id: 1 });
    await silent.next("echoReply");
    // The one offer before was taken back.
    expect(await countEvents(id)).toBe(3);
    expect((await readJob(id)).attempt).toBe(0);
    const clock = stopClock();
    clock.pass(HELLO_MS + 1_000);
    await runDurableObjectAlarm(linkStub(runner.runnerId));
    clock.start();
    expect(await silent.nextClose()).toMatchObject({ code: CLOSE_CODES.protocolError });
    expect(silent.received).toEqual([]);
  });

  it("passes on no more of a job's progress than it may, and goes on", async () => {
    const { scripted } = await newOnlineRunner();
    const { id } = await submitJob();
    const { lease } = await scripted.next("offer");
    const total = 2 * PROGRESS.burst;
    const clock = stopClock();
    for (let done = 0; done < total; done++)
      scripted.send({ type: "jobProgress", lease, progress: { phase: "run", done, total } });
    scripted.send({ type: "echo", id: 1 });
    await scripted.next("echoReply");
    clock.start();
    const events = await runInDurableObject(queueStub(), (_, { storage }) =>
      new JobStore(storage.sql).eventsAfter(id, 0).filter(({ type }) => type === "progress"),
    );
    expect(events.length).toBeGreaterThan(0);
    expect(events.length).toBeLessThanOrEqual(PROGRESS.burst);
    expect((await readJob(id)).state).toBe("leased");
  });

  it("is closed for capabilities that no row of the database could hold", async () => {
    const { scripted } = await newOnlineRunner();
    const [kernel] = capabilities.kernels;
    const description = "x".repeat(LIMITS.announcedTextLength);
    const kernels = Array.from({ length: 256 }, (_, at) => ({
      ...kernel!,
      name: `kernel-${at}`,
      description,
      dimensions: [...kernel!.dimensions, { ...kernel!.dimensions[0]!, name: "more", description }],
    }));
    scripted.send({ type: "capabilities", capabilities: { ...capabilities, kernels } });
    const { code, reason } = await scripted.nextClose();
    expect(code).toBe(CLOSE_CODES.protocolError);
    expect(reason).toContain("capabilities of more than");
  });

  it("is closed where its capabilities come again and again", async () => {
    const { scripted } = await newOnlineRunner();
    stopClock();
    for (let count = 0; count < 2 * ANNOUNCED.burst; count++) scripted.send({ type: "capabilities", capabilities });
    expect((await scripted.nextClose()).reason).toContain("capabilities more often");
  });

  it("is closed where its roofs come again and again", async () => {
    const { scripted } = await newOnlineRunner();
    const roofline = {
      measuredAt: "2026-11-21T09:30:00.000Z",
      tookMs: 1,
      loadAverage: 0,
      gflops: { float32: null, float16: null, int8: null },
      gigabytesPerSecond: { triad: null, copy: null, read: null },
      missing: {},
    };
    stopClock();
    for (let count = 0; count < 2 * ANNOUNCED.burst; count++)
      scripted.send({ type: "deviceRoofline", deviceKey: "gpu0", roofline });
    expect((await scripted.nextClose()).reason).toContain("roofs more often");
  });

  it("carries as many requests at once as it may, of one project seven eighths, and says so of one more", async () => {
    const { runnerId, scripted } = await newOnlineRunner();
    const link = linkStub(runnerId);
    const ask = (project: string) => link.infer(createId("request"), new Uint8Array(1), 600_000, project);
    const most = (LIMITS.inFlightPerRunner * 7) / 8;
    const asked = Array.from({ length: most }, () => ask("crowd"));
    await vi.waitFor(() => expect(scripted.frames).toHaveLength(most), BOUND);
    const refusal = { ok: false, heard: false, problem: { code: "overloaded", retryAfterMs: 100 } };
    expect(await ask("crowd")).toMatchObject(refusal);
    expect(scripted.frames).toHaveLength(most);
    asked.push(ask("other"));
    await vi.waitFor(() => expect(scripted.frames).toHaveLength(most + 1), BOUND);
    scripted.socket.close();
    const codes = (await Promise.all(asked)).map((outcome) => (outcome.ok ? "" : outcome.problem.code));
    expect(new Set(codes)).toEqual(new Set(["runner-lost"]));
  });

  it("carries as many bytes at once as its object has memory for", async () => {
    const { runnerId, scripted } = await newOnlineRunner();
    const link = linkStub(runnerId);
    const ask = (project: string) =>
      link.infer(createId("request"), new Uint8Array(LIMITS.inferBodyBytes), 600_000, project);
    const asked = Array.from({ length: 5 }, () => ask("crowd"));
    await vi.waitFor(() => expect(scripted.frames).toHaveLength(5), BOUND);
    expect(await ask("crowd")).toMatchObject({ ok: false, problem: { code: "overloaded" } });
    asked.push(ask("other"));
    await vi.waitFor(() => expect(scripted.frames).toHaveLength(6), BOUND);
    scripted.socket.close();
    await Promise.all(asked);
  });

  it("gives way to a newer one of the same runner, which stays online", async () => {
    const runner = await newRunner();
    const first = await ScriptedRunner.online(runner);
    const second = await ScriptedRunner.online(runner);
    expect((await first.nextClose()).code).toBe(CLOSE_CODES.replaced);
    second.send({ type: "echo", id: 1 });
    await second.next("echoReply");
    expect(await stateOf(runner.runnerId)).toBe("online");
  });

  it("that fell silent is ended by the alarm and its runner goes offline", async () => {
    const { scripted, runnerId } = await newOnlineRunner();
    await runInDurableObject(linkStub(runnerId), (_, state) => {
      for (const socket of state.getWebSockets()) {
        attach(socket, { ...attachmentOf(socket), acceptedAtMs: Date.now() - configOf(env).silentMs });
      }
    });
    await runDurableObjectAlarm(linkStub(runnerId));
    expect((await scripted.nextClose()).code).toBe(CLOSE_CODES.silent);
    await expect.poll(() => stateOf(runnerId), BOUND).toBe("offline");
  });

  it("that seems silent to an alarm that came late itself is judged a ping later", async () => {
    const { scripted, runnerId } = await newOnlineRunner();
    const { silentMs, intervals } = configOf(env);
    const ring = (heardAgoMs: number) =>
      runInDurableObject(linkStub(runnerId), async (link, state) => {
        const [socket] = state.getWebSockets();
        attach(socket!, { ...attachmentOf(socket!), acceptedAtMs: Date.now() - heardAgoMs });
        await state.storage.deleteAlarm();
        await (link as unknown as { alarm(): Promise<void> }).alarm();
        return (await state.storage.getAlarm()) ?? 0;
      });
    const lateMs = silentMs + 2 * intervals.pingMs;
    const nowMs = Date.now();
    const nextMs = await ring(lateMs);
    expect(nextMs).toBeGreaterThanOrEqual(nowMs + intervals.pingMs);
    expect(nextMs).toBeLessThan(nowMs + silentMs);
    expect(scripted.closed).toBeNull();
    // Heard from meanwhile, it has the same grace again.
    await ring(0);
    await ring(lateMs);
    expect(scripted.closed).toBeNull();
    await ring(lateMs);
    expect((await scripted.nextClose()).code).toBe(CLOSE_CODES.silent);
  });

  it("is looked at when it can first be dead, and no ping moves that further than it reaches", async () => {
    const { scripted, runnerId } = await newOnlineRunner();
    const { silentMs } = configOf(env);
    const seen = () =>
      runInDurableObject(linkStub(runnerId), async (_, state) => {
        const [socket] = state.getWebSockets();
        return {
          alarmMs: await state.storage.getAlarm(),
          acceptedMs: attachmentOf(socket!).acceptedAtMs,
          pingMs: state.getWebSocketAutoResponseTimestamp(socket!)?.getTime() ?? null,
        };
      });
    const before = await seen();
    expect(before.pingMs).toBeNull();
    // The clock goes on between both.
    expect(before.alarmMs).toBeGreaterThanOrEqual(before.acceptedMs + silentMs);
    expect(before.alarmMs).toBeLessThanOrEqual(Date.now() + silentMs);
    scripted.socket.send(PING);
    await expect.poll(() => scripted.pongs, BOUND).toBe(1);
    await runDurableObjectAlarm(linkStub(runnerId));
    const after = await seen();
    expect(after.pingMs).not.toBeNull();
    expect(after.alarmMs).toBe((after.pingMs ?? 0) + silentMs);
  });

  it("that pings lives on", async () => {
    const { scripted, runnerId } = await newOnlineRunner();
    scripted.socket.send(PING);
    await expect.poll(() => scripted.pongs, BOUND).toBe(1);
    await runInDurableObject(linkStub(runnerId), (_, state) => {
      for (const socket of state.getWebSockets()) {
        attach(socket, { ...attachmentOf(socket), acceptedAtMs: 1 });
      }
    });
    await runDurableObjectAlarm(linkStub(runnerId));
    expect(await stateOf(runnerId)).toBe("online");
    expect(scripted.closed).toBeNull();
  });

  it("that follows at once keeps its runner online, though the end of the one before is still being written", async () => {
    const runner = await newRunner();
    const first = await ScriptedRunner.online(runner);
    const end = { isReached: false, isHeld: true, isWritten: false };
    const heal = await troubleDatabase(linkStub(runner.runnerId), async (run) => {
      if (end.isReached) return run();
      end.isReached = true;
      while (end.isHeld) await scheduler.wait(5);
      const written = await run();
      end.isWritten = true;
      return written;
    });
    first.socket.close(1000, "cut");
    await expect.poll(() => end.isReached, BOUND).toBe(true);
    const second = await ScriptedRunner.online(runner);
    const { id } = await submitJob({ runnerId: runner.runnerId });
    expect((await second.next("offer")).lease.jobId).toBe(id);
    end.isHeld = false;
    await expect.poll(() => end.isWritten, BOUND).toBe(true);
    await heal();
    expect(await stateOf(runner.runnerId)).toBe("online");
    await runInDurableObject(linkStub(runner.runnerId), async (_, { storage }) => {
      expect(await storage.get("connected")).toBe(runner.runnerId);
    });
  });

  it("survives an eviction of its object", async () => {
    const { scripted, runnerId } = await newOnlineRunner();
    await evictDurableObject(linkStub(runnerId));
    scripted.send({ type: "echo", id: 3 });
    expect((await scripted.next("echoReply")).id).toBe(3);
    expect(await stateOf(runnerId)).toBe("online");
  });
});

describe("measurements of requests", () => {
  const outcome = (subject: string, totalMs: number): RequestOutcome => ({
    project: MAIN_PROJECT,
    subject,
    variant: "fp32",
    backend: "ort-cpu",
    batch: 1,
    software: false,
    fingerprint: { adapter: null, driver: null, dawn: null, toggles: [], ort: "1", cpu: "sample" },
    totalMs,
    rows: null,
    split: null,
    forecast: null,
  });
  const stored = async (subject: string) => {
    const { results } = await env.DB.prepare(
      "select sum(p.count) as count, sum(p.sum) as total from points p join series s on s.no = p.series_no where s.subject = ? and s.metric = 'totalMs'",
    )
      .bind(subject)
      .all<{ count: number; total: number }>();
    return results[0];
  };

  /** Runs the alarm until all records have been passed on: it is due a moment after they arrive. */
  const flushed = (link: ReturnType<typeof linkStub>, subject: string) =>
    vi.waitFor(async () => {
      await runDurableObjectAlarm(link);
      expect(await stored(subject)).toEqual({ count: 3, total: 7 });
    }, BOUND);

  it("outlive an eviction and reach the history once", async () => {
    const { runnerId } = await newRunner();
    await linkStub(runnerId).record([outcome("evicted@1", 1), outcome("evicted@1", 2)]);
    await evictDurableObject(linkStub(runnerId));
    await linkStub(runnerId).record([outcome("evicted@1", 4)]);
    await flushed(linkStub(runnerId), "evicted@1");
    await runDurableObjectAlarm(linkStub(runnerId));
    expect(await stored("evicted@1")).toEqual({ count: 3, total: 7 });
  });

  it("that the history does not take keep no runner online, and are announced as far as it took them", async () => {
    const { runnerId } = await newRunner();
    // As after a restart of the edge, which missed the end of the socket.
    await env.DB.prepare("update runners set online = 1, connected_at_ms = 1 where id = ?").bind(runnerId).run();
    const changes = await fetchEdge("GET", "/v1/events");
    const link = linkStub(runnerId);
    await runInDurableObject(link, async (_, { storage, id }) => {
      await storage.put("connected", runnerId);
      const outbox = new Outbox(storage.sql, id.toString());
      const [measured] = measureOutcomes([outcome("taken@1", 7)]);
      // A whole batch, and one unreadable row.
      for (let row = 0; row < 2_000; row++) outbox.add(measured!, 1);
      outbox.add({ ...measured!, key: null as never }, 1);
      await storage.setAlarm(Date.now() + 60_000);
    });
    await runDurableObjectAlarm(link);
    expect(await stateOf(runnerId)).toBe("offline");
    expect(await stored("taken@1")).toEqual({ count: 2_000, total: 14_000 });
    await readUntil(changes, "event: history");
    await runInDurableObject(link, (_, { storage }) => {
      storage.sql.exec("delete from outbox");
    });
  });

  it("count once when a flush is cut off behind its write, though more came meanwhile", async () => {
    const { runnerId } = await newRunner();
    const link = linkStub(runnerId);
    await runInDurableObject(link, async (_, { storage, id }) => {
      const outbox = new Outbox(storage.sql, id.toString());
      for (const measured of measureOutcomes([outcome("cut@1", 1), outcome("cut@1", 2)])) outbox.add(measured, 1);
      const { measurements } = outbox.takeBatch();
      await appendMeasurements(env.DB, measurements);
      // Cut off here: done is never called.
    });
    await evictDurableObject(link);
    await link.record([outcome("cut@1", 4)]);
    await flushed(link, "cut@1");
    await runDurableObjectAlarm(link);
    expect(await stored("cut@1")).toEqual({ count: 3, total: 7 });
  });
});
