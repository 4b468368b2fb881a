import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import type { Lease } from "../../../src/protocol/link.ts";
import { createProblem } from "../../../src/protocol/wire/problem.ts";
import { Runner } from "../../../src/protocol/fleet/runner.ts";
import { callEdge, fetchEdge } from "../stack/edge-client.ts";
import type { RunnerLink } from "../../../src/edge/link/runner-link.ts";
import {
  linkStub,
  newOnlineRunner,
  newRunner,
  queueStub,
  readJob,
  readUntil,
  submitJob,
} from "../stack/queue-client.ts";
import { BOUND } from "../stack/runner-script.ts";
import { ScriptedRunner } from "../stack/scripted-runner.ts";

const readRunner = async (id: string) => Runner.parse((await callEdge("GET", `/v1/runners/${id}`)).json);
const stateOf = async (id: string) => (await readRunner(id)).state;

/** Fails a job for good, soon after its start. */
async function failNext(scripted: ScriptedRunner): Promise<void> {
  const { lease } = await scripted.next("offer");
  const problem = createProblem("kernel-incorrect", "It is wrong.");
  scripted.send({ type: "jobOutcome", lease, outcome: { ok: false, problem } });
  await scripted.next("jobSettled");
}

async function quarantineByFailures(): Promise<{ runnerId: string; scripted: ScriptedRunner }> {
  const { runnerId, scripted } = await newOnlineRunner();
  for (let count = 0; count < LIMITS.fastFailures; count++) {
    await submitJob({ runnerId });
    await failNext(scripted);
  }
  await expect.poll(async () => (await readRunner(runnerId)).quarantine, BOUND).not.toBeNull();
  return { runnerId, scripted };
}

describe("a runner on which job after job fails", () => {
  it("is given nothing for a while, which is reported, and others are", async () => {
    const changes = await fetchEdge("GET", "/v1/events");
    const { runnerId, scripted } = await quarantineByFailures();
    const { quarantine, state } = await readRunner(runnerId);
    expect(state).toBe("online");
    expect(quarantine?.reason).toMatch(/3 jobs in a row failed there at once, the last one by kernel-incorrect/);
    expect(Date.parse(quarantine?.until ?? "")).toBeGreaterThan(Date.now());
    await readUntil(changes, `"type":"runner","id":"${runnerId}"`);
    const { id } = await submitJob();
    scripted.send({ type: "heartbeat", running: [] });
    const other = await newOnlineRunner();
    expect((await other.scripted.next("offer")).lease.jobId).toBe(id);
    expect(scripted.received).toEqual([]);
  });

  it("stays out over an eviction, and comes back by itself when its time is over", async () => {
    const { runnerId, scripted } = await quarantineByFailures();
    const { id } = await submitJob({ runnerId });
    await evictDurableObject(queueStub());
    scripted.send({ type: "heartbeat", running: [] });
    scripted.send({ type: "echo", id: 1 });
    await scripted.next("echoReply");
    expect((await readJob(id)).state).toBe("queued");
    await runInDurableObject(queueStub(), async (_, { storage }) => {
      // An alarm must be set for then.
      expect(await storage.getAlarm()).not.toBeNull();
      storage.sql.exec("update runner_standings set standing = json_set(standing, '$.quarantine.untilMs', 1)");
    });
    await runDurableObjectAlarm(queueStub());
    expect((await scripted.next("offer")).lease.jobId).toBe(id);
  });

  it("is let back by an admin", async () => {
    const { runnerId, scripted } = await quarantineByFailures();
    const { id } = await submitJob({ runnerId });
    expect((await callEdge("POST", `/v1/runners/${runnerId}/resume`)).json.quarantine).toBeNull();
    expect((await scripted.next("offer")).lease.jobId).toBe(id);
  });

  it("is not blamed for the same job twice, nor where one went well between", async () => {
    const { runnerId, scripted } = await newOnlineRunner();
    const problem = createProblem("device-lost", "It died.");
    await submitJob({ runnerId });
    for (let attempt = 0; attempt < LIMITS.fastFailures; attempt++) {
      const { lease } = await scripted.next("offer");
      scripted.send({ type: "jobOutcome", lease, outcome: { ok: false, problem } });
      await scripted.next("jobSettled");
    }
    await submitJob({ runnerId });
    await failNext(scripted);
    await submitJob({ runnerId });
    scripted.succeed(await scripted.next("offer"));
    await scripted.next("jobSettled");
    await submitJob({ runnerId });
    await failNext(scripted);
    await submitJob({ runnerId });
    await failNext(scripted);
    expect((await readRunner(runnerId)).quarantine).toBeNull();
  });
});

describe("a runner that loses its connection again and again", () => {
  const flap = async (runner: Awaited<ReturnType<typeof newRunner>>, code: number) => {
    const scripted = await ScriptedRunner.online(runner);
    scripted.socket.close(code, "cut");
    await expect.poll(() => stateOf(runner.runnerId), BOUND).toBe("offline");
  };

  it("is given nothing for a while", async () => {
    const runner = await newRunner();
    for (let count = 0; count < LIMITS.flapDisconnects; count++) await flap(runner, 4_999);
    await expect
      .poll(async () => (await readRunner(runner.runnerId)).quarantine?.reason, BOUND)
      .toMatch(/lost its connection 5 times/);
    const back = await ScriptedRunner.online(runner);
    const { id } = await submitJob({ runnerId: runner.runnerId });
    back.send({ type: "echo", id: 1 });
    await back.next("echoReply");
    expect((await readJob(id)).state).toBe("queued");
  });

  it("by leaving is not blamed", async () => {
    const runner = await newRunner();
    for (let count = 0; count < LIMITS.flapDisconnects + 1; count++) await flap(runner, 1_000);
    const back = await ScriptedRunner.online(runner);
    const { id } = await submitJob({ runnerId: runner.runnerId });
    expect((await back.next("offer")).lease.jobId).toBe(id);
  });

  it("because each socket takes over from the one before is reported, too", async () => {
    const runner = await newRunner();
    for (let count = 0; count <= LIMITS.flapDisconnects; count++) await ScriptedRunner.online(runner);
    await expect.poll(async () => (await readRunner(runner.runnerId)).quarantine, BOUND).not.toBeNull();
  });
});

describe("a runner that is about to leave", () => {
  it("gets no more jobs and keeps the one it has, until it says hello again", async () => {
    const runner = await newRunner();
    const scripted = await ScriptedRunner.online(runner);
    const held = await submitJob();
    const offer = await scripted.next("offer");
    scripted.send({ type: "leaving" });
    const waiting = await submitJob();
    scripted.succeed(offer);
    expect((await scripted.next("jobSettled")).stored).toBe(true);
    expect((await readJob(held.id)).state).toBe("succeeded");
    expect((await readJob(waiting.id)).state).toBe("queued");
    scripted.socket.close(1000, "stopping");
    const back = await ScriptedRunner.online(runner);
    expect((await back.next("offer")).lease.jobId).toBe(waiting.id);
  });
});

describe("a heartbeat", () => {
  it("that renews nothing reaches the queue while a job waits, and otherwise once", async () => {
    const { scripted, runnerId } = await newOnlineRunner();
    const isOnline = () =>
      runInDurableObject(queueStub(), (_, { storage }) =>
        storage.sql.exec("select online from runners where id = ?", runnerId).one(),
      );
    const forget = () => queueStub().runnerDisconnected(runnerId);
    /** As over the socket, but it returns when the link is done with it. */
    const beat = (running: Lease[] = []) =>
      runInDurableObject(linkStub(runnerId), (link, state) =>
        (link as RunnerLink).webSocketMessage(
          state.getWebSockets()[0]!,
          JSON.stringify({ type: "heartbeat", running }),
        ),
      );
    await forget();
    await beat();
    expect(await isOnline()).toEqual({ online: 1 });
    await forget();
    await beat();
    await beat();
    expect(await isOnline()).toEqual({ online: 0 });
    // A runner with a lease is heard each time: its job is renewed.
    const { id } = await submitJob();
    await evictDurableObject(linkStub(runnerId));
    await beat();
    const { lease } = await scripted.next("offer");
    expect(lease.jobId).toBe(id);
    await runInDurableObject(queueStub(), (_, { storage }) => {
      storage.sql.exec("update jobs set lease_until_ms = 5 where id = ?", id);
    });
    await beat([lease]);
    const untilMs = await runInDurableObject(queueStub(), (_, { storage }) =>
      Number(storage.sql.exec("select lease_until_ms as ms from jobs where id = ?", id).one().ms),
    );
    expect(untilMs).toBeGreaterThan(5);
  });
});
