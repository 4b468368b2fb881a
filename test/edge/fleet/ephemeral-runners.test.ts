import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import { scopeEnv } from "../../../src/edge/config.ts";
import { endRunner, removeVanished, VANISHED_MS } from "../../../src/edge/fleet/change-runner.ts";
import { openDatabase } from "../../../src/edge/store/database.ts";
import { readUnnotedRemovals } from "../../../src/edge/store/fleet/runner-store.ts";
import { createProblem } from "../../../src/protocol/wire/problem.ts";
import { createId } from "../../../src/protocol/wire/id.ts";
import {
  callEdge,
  createToken,
  pointersOf,
  problemOf,
  type RegisteredRunner,
  registerRunner,
} from "../stack/edge-client.ts";
import { newOnlineRunner, queueStub, readEvents, readJob, submitJob } from "../stack/queue-client.ts";
import { capabilities } from "../stack/samples.ts";
import { ScriptedRunner } from "../stack/scripted-runner.ts";

const roomy = { ...capabilities, jobSlots: 4 };
const made: RegisteredRunner[] = [];

afterEach(async () => {
  for (const { runnerId } of made.splice(0)) await callEdge("DELETE", `/v1/runners/${runnerId}`);
});

async function registerEphemeral(): Promise<RegisteredRunner> {
  const body = { token: await createToken(), name: "brief", ephemeral: true };
  const { status, json } = await callEdge("POST", "/v1/runners", { key: null, body });
  expect(status).toBe(201);
  made.push(json);
  return json;
}

async function connect(runner: RegisteredRunner, jobsLeft: 0 | 1): Promise<ScriptedRunner> {
  const scripted = await ScriptedRunner.connect(runner);
  scripted.send({ type: "hello", capabilities: roomy, running: [], jobsLeft });
  await scripted.next("welcome");
  return scripted;
}

const readRunner = (id: string) => callEdge("GET", `/v1/runners/${id}`);
const unregister = (key: string) => callEdge("DELETE", "/v1/link", { key });

describe("an ephemeral runner", () => {
  it("is shown as one, and no other is", async () => {
    const { runnerId } = await registerEphemeral();
    expect((await readRunner(runnerId)).json).toMatchObject({ name: "brief", ephemeral: true });
    const other = await registerRunner();
    made.push(other);
    expect((await readRunner(other.runnerId)).json.ephemeral).toBe(false);
    const body = { token: await createToken(), name: "brief", ephemeral: "yes" };
    expect(pointersOf(await callEdge("POST", "/v1/runners", { key: null, body }))).toEqual(["#/ephemeral"]);
  });

  it("removes itself by its credential, which ends with it", async () => {
    const runner = await registerEphemeral();
    const scripted = await connect(runner, 1);
    expect((await unregister(runner.credential)).status).toBe(204);
    expect((await scripted.nextClose()).code).toBe(4002);
    expect((await readRunner(runner.runnerId)).status).toBe(404);
    expect(problemOf(await unregister(runner.credential)).code).toBe("unauthorized");
    const { items } = (await callEdge("GET", "/v1/runners?limit=200")).json;
    expect(items.map(({ id }: { id: string }) => id)).not.toContain(runner.runnerId);
  });

  it("is the only one that may: another stays, and no key removes by this route", async () => {
    const other = await registerRunner();
    made.push(other);
    const refused = await unregister(other.credential);
    expect(problemOf(refused).code).toBe("forbidden");
    expect(pointersOf(refused)).toEqual(["header/authorization"]);
    expect((await readRunner(other.runnerId)).status).toBe(200);
  });
});

describe("a runner that takes one job", () => {
  it("is offered one, whatever room it has, also after that one has ended", async () => {
    const scripted = await connect(await registerEphemeral(), 1);
    const [first, second] = [await submitJob(), await submitJob()];
    const offer = await scripted.next("offer");
    expect(offer.lease.jobId).toBe(first.id);
    scripted.succeed(offer);
    expect((await scripted.next("jobSettled")).stored).toBe(true);
    scripted.send({ type: "heartbeat", running: [] });
    const other = await newOnlineRunner();
    expect((await other.scripted.next("offer")).lease.jobId).toBe(second.id);
    expect(scripted.received).toEqual([]);
  });

  it("is offered none by a hello that says so, nor after its one was cancelled", async () => {
    const runner = await registerEphemeral();
    const leaving = await connect(runner, 0);
    const { id } = await submitJob();
    leaving.send({ type: "heartbeat", running: [] });
    leaving.send({ type: "echo", id: 1 });
    await leaving.next("echoReply");
    expect(leaving.received).toEqual([]);
    const again = await connect(runner, 1);
    expect((await again.next("offer")).lease.jobId).toBe(id);
    await callEdge("POST", `/v1/jobs/${id}/cancel`);
    await again.next("jobCancel");
    const next = await submitJob();
    const other = await newOnlineRunner();
    expect((await other.scripted.next("offer")).lease.jobId).toBe(next.id);
    expect(again.received).toEqual([]);
  });

  it("is not calibrated", async () => {
    const { runnerId, credential } = await registerEphemeral();
    await connect({ runnerId, credential }, 1);
    const known = () =>
      runInDurableObject(queueStub(), (_, { storage }) =>
        storage.sql.exec("select jobs_left from runners where id = ?", runnerId).toArray(),
      );
    await expect.poll(known).toEqual([{ jobs_left: 1 }]);
    await queueStub().ensureCalibrations(runnerId, [{ id: createId("modelVersion"), project: "main" }]);
    const { items } = (await callEdge("GET", "/v1/jobs?limit=200&kind=calibration&state=queued")).json;
    expect(items).toEqual([]);
  });
});

it("a declined offer goes to another runner and is no attempt; the one that declined gets no more", async () => {
  const first = await newOnlineRunner();
  const { id } = await submitJob();
  const { lease } = await first.scripted.next("offer");
  const problem = createProblem("runner-lost", "The runner was stopped.");
  first.scripted.send({ type: "jobOutcome", lease, outcome: { ok: false, problem, declined: true } });
  expect((await first.scripted.next("jobSettled")).stored).toBe(true);
  const other = await newOnlineRunner();
  const offer = await other.scripted.next("offer");
  expect(offer).toMatchObject({ lease: { jobId: id, epoch: 2 }, attempt: 1 });
  other.scripted.succeed(offer);
  expect((await other.scripted.next("jobSettled")).stored).toBe(true);
  expect(await readJob(id)).toMatchObject({ state: "succeeded", attempt: 1, runnerId: other.runnerId });
  const types = (await readEvents(id)).map(({ type }) => type);
  expect(types).toEqual(["queued", "leased", "requeued", "leased", "succeeded"]);
  expect(first.scripted.received).toEqual([]);
});

describe("a runner that vanished", () => {
  const sinceMs = Date.now() - VANISHED_MS;
  const lookedAtMs = Date.now() + 1_000;
  const lastSeen = (id: string, atMs: number) =>
    env.DB.prepare("update runners set last_seen_at_ms = ?2, created_at_ms = ?2 where id = ?1").bind(id, atMs).run();
  const isThere = async ({ runnerId }: RegisteredRunner) => (await readRunner(runnerId)).status === 200;

  it("is removed once it was away for ten minutes, if it is ephemeral", async () => {
    const [gone, recent, online] = [await registerEphemeral(), await registerEphemeral(), await registerEphemeral()];
    const lasting = await registerRunner();
    made.push(lasting);
    await connect(online, 1);
    for (const { runnerId } of [gone, online, lasting]) await lastSeen(runnerId, sinceMs);
    await lastSeen(recent.runnerId, sinceMs + 60_000);
    await removeVanished(env, lookedAtMs);
    expect(await Promise.all([gone, recent, online, lasting].map(isThere))).toEqual([false, true, true, true]);
  });

  it("loses its job to another one, which counts as an attempt", async () => {
    const gone = await registerEphemeral();
    const scripted = await connect(gone, 1);
    const { id } = await submitJob();
    await scripted.next("offer");
    scripted.socket.close(1000, "killed");
    await expect.poll(async () => (await readRunner(gone.runnerId)).json.state).toBe("offline");
    await lastSeen(gone.runnerId, sinceMs);
    await removeVanished(env, lookedAtMs);
    const other = await newOnlineRunner();
    expect(await other.scripted.next("offer")).toMatchObject({ lease: { jobId: id }, attempt: 2 });
  });

  it("is found by its index", async () => {
    const { results } = await env.DB.prepare(
      "explain query plan select id from runners where ephemeral = 1 and removed_at_ms is null and online = ?",
    )
      .bind(0)
      .all<{ detail: string }>();
    expect(results.map(({ detail }) => detail).join()).toContain("runners_ephemeral");
  });
});

describe("a removal that failed halfway", () => {
  it("is ended a minute later: what waits for the runner fails", async () => {
    const { runnerId } = await newOnlineRunner();
    await submitJob();
    const { id } = await submitJob({ runnerId });
    const refuse = () => ({ runnerRemoved: () => Promise.reject(new Error("the object moved")) });
    const broken = { ...scopeEnv(env, "main"), JOB_QUEUE: { idFromName: String, get: refuse } } as never;
    await expect(endRunner(broken, runnerId)).rejects.toThrow("moved");
    expect((await readRunner(runnerId)).status).toBe(404);
    expect((await readJob(id)).state).toBe("queued");
    const later = Date.now() + 120_000;
    const waiting = () => readUnnotedRemovals(openDatabase(env.DB), later);
    expect(await waiting()).toEqual([{ id: runnerId, project: "main" }]);
    await removeVanished(env, Date.now());
    expect((await readJob(id)).state).toBe("queued");
    await removeVanished(env, later);
    expect(await readJob(id)).toMatchObject({ state: "failed", problem: { code: "runner-lost" } });
    expect(await waiting()).toEqual([]);
  });

  it("is found by its index", async () => {
    const { results } = await env.DB.prepare(
      "explain query plan select id from runners where credential_hash between ? and ?",
    )
      .bind("a", "b")
      .all<{ detail: string }>();
    expect(results.map(({ detail }) => detail).join()).toContain("SEARCH runners USING INDEX");
  });
});
