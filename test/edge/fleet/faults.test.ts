import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { Capabilities } from "../../../src/protocol/fleet/hardware.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import { createProblem } from "../../../src/protocol/wire/problem.ts";
import { callEdge, fetchEdge, pointersOf, problemOf } from "../stack/edge-client.ts";
import {
  countRuns,
  linkStub,
  newOnlineRunner,
  newRunner,
  readJob,
  readUntil,
  submitJob,
} from "../stack/queue-client.ts";
import { BOUND } from "../stack/runner-script.ts";
import { benchmarkResult, capabilities } from "../stack/samples.ts";
import { ScriptedRunner } from "../stack/scripted-runner.ts";
import { troubleDatabase } from "../stack/troubled-database.ts";

const HOUR_MS = 3_600_000;
const triad = { kind: "benchmark", kernel: "triad", shape: { n: 64 } };
const submit = (changes: object) => callEdge("POST", "/v1/jobs", { body: { ...triad, ...changes } });

/** The sample's capabilities with the kernel in quarantine on its GPU. */
function quarantined(kernel = "triad", forMs = HOUR_MS): Capabilities {
  const until = new Date(Date.now() + forMs).toISOString();
  const entry = { kernel, code: "device-lost", failures: 3, until } as const;
  const devices = capabilities.devices.map((device) =>
    device.kind === "gpu" ? { ...device, quarantined: [entry] } : device,
  );
  return { ...capabilities, devices };
}

/** Sends new capabilities to the edge, and waits until they show. */
async function tell(scripted: ScriptedRunner, runnerId: string, changed: Capabilities): Promise<void> {
  scripted.send({ type: "capabilities", capabilities: changed });
  await expect
    .poll(async () => (await callEdge("GET", `/v1/runners/${runnerId}`)).json.capabilities, BOUND)
    .toEqual(changed);
}

/** Entries of leaderboards that came from a job. */
async function countStandings(jobId: string): Promise<number> {
  const query = env.DB.prepare("select count(*) as n from standings where run_id = ?");
  const row = await query.bind(jobId.replace("job_", "run_")).first<{ n: number }>();
  return row?.n ?? -1;
}

describe("a kernel in quarantine", () => {
  it("is shown on its runner, and a job that no other device could run is refused at once", async () => {
    const { runnerId, scripted } = await newOnlineRunner();
    await tell(scripted, runnerId, quarantined());
    const refused = await submit({ runnerId });
    expect(refused.status).toBe(503);
    const problem = problemOf(refused);
    expect(problem).toMatchObject({ code: "kernel-quarantined" });
    expect(problem.retryAfterMs).toBeGreaterThan(HOUR_MS - 60_000);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(3_500);

    expect((await submit({ runnerId, onDeviceFailure: "cpu-reference" })).status).toBe(202);
    const offer = await scripted.next("offer");
    expect(offer.spec).toMatchObject({ onDeviceFailure: "cpu-reference" });
    scripted.succeed(offer);
    await scripted.next("jobSettled");

    await tell(scripted, runnerId, quarantined("triad", -1));
    expect((await submit({ runnerId })).status).toBe(202);
    await scripted.next("offer");
  });

  it("can be read by a client that hears of the runner's change", async () => {
    const runner = await newRunner();
    const { runnerId } = runner;
    const connected = await fetchEdge("GET", "/v1/events");
    const scripted = await ScriptedRunner.online(runner);
    // The hello is announced some time after the welcome.
    await readUntil(connected, `"type":"runner","id":"${runnerId}"`);
    const changes = await fetchEdge("GET", "/v1/events");
    const changed = quarantined();
    let isWritten = false;
    const heal = await troubleDatabase(linkStub(runnerId), async (run) => {
      // Long enough for an early message to arrive.
      await scheduler.wait(100);
      const written = await run();
      isWritten = true;
      return written;
    });
    scripted.send({ type: "capabilities", capabilities: changed });
    await readUntil(changes, "event: runner");
    expect(isWritten).toBe(true);
    await heal();
    expect((await callEdge("GET", `/v1/runners/${runnerId}`)).json.capabilities).toEqual(changed);
  });

  it("goes to a runner where it is not, and never back to the one that said so", async () => {
    const first = await newOnlineRunner();
    const { id } = await submitJob();
    const offer = await first.scripted.next("offer");
    // In this order: the outcome finds the quarantine known.
    first.scripted.send({ type: "capabilities", capabilities: quarantined() });
    const problem = createProblem("kernel-quarantined", "It failed too often.", { retryAfterMs: HOUR_MS });
    first.scripted.send({ type: "jobOutcome", lease: offer.lease, outcome: { ok: false, problem } });
    await first.scripted.next("jobSettled");
    expect(await readJob(id)).toMatchObject({ state: "queued", attempt: 1, problem: { code: "kernel-quarantined" } });
    first.scripted.send({ type: "heartbeat", running: [] });

    const second = await newOnlineRunner();
    expect((await second.scripted.next("offer")).lease).toEqual({ jobId: id, epoch: 2 });
    expect(first.scripted.received).toEqual([]);
  });

  it("of another name keeps nothing back", async () => {
    const { runnerId, scripted } = await newOnlineRunner();
    await tell(scripted, runnerId, quarantined("gemm"));
    const { id } = await submitJob({ runnerId });
    expect((await scripted.next("offer")).lease.jobId).toBe(id);
  });
});

describe("a device", () => {
  it("that no runner has, or a batch that the kernel has not, is a field that is wrong", async () => {
    const { runnerId } = await newOnlineRunner();
    const cases: [object, string[]][] = [
      [{ deviceKey: "gpu1" }, ["#/deviceKey"]],
      [{ deviceKey: "gpu1", runnerId }, ["#/deviceKey"]],
      [{ deviceKey: "cpu" }, ["#/deviceKey"]],
      [{ deviceKey: "" }, ["#/deviceKey"]],
      [{ deviceKey: "g".repeat(33) }, ["#/deviceKey"]],
      [{ allowSmallerBatch: true, spread: true }, ["#/allowSmallerBatch", "#/spread"]],
      [{ spread: true, deviceKey: "gpu0" }, ["#/spread", "#/spread"]],
      [{ onDeviceFailure: "panic" }, ["#/onDeviceFailure"]],
    ];
    for (const [changes, pointers] of cases) {
      const reply = await submit(changes);
      expect(reply.status, JSON.stringify(changes)).toBe(400);
      expect(pointersOf(reply)).toEqual(pointers);
    }
    expect(problemOf(await submit({ deviceKey: "gpu1" })).errors?.[0]?.message).toBe("must be one of: gpu0");
  });

  it("is checked on the runners that may take the job, as far as they are known", async () => {
    const { scripted, runnerId } = await newOnlineRunner();
    const { runnerId: unseen } = await newRunner();
    expect((await submit({ runnerId: unseen, deviceKey: "gpu7" })).status).toBe(202);
    expect((await submit({ profile: "gpu-accelerated", deviceKey: "gpu7" })).status).toBe(202);
    await tell(scripted, runnerId, quarantined());
    expect((await submit({ runnerId })).status).toBe(503);
    expect((await submit({ runnerId: unseen })).status).toBe(202);
  });

  it("is asked for in the offer, and its result must come from there", async () => {
    const { scripted } = await newOnlineRunner();
    const { id } = await submitJob({ deviceKey: "gpu0" });
    const offer = await scripted.next("offer");
    expect(offer.spec).toMatchObject({ deviceKey: "gpu0" });
    const result = benchmarkResult();
    scripted.succeed(offer, { ...result, environment: { ...result.environment, deviceKey: "gpu1" } });
    await scripted.next("jobSettled");
    expect(await readJob(id)).toMatchObject({ state: "failed", problem: { code: "backend-failed" } });
  });
});

/** Enough for a leaderboard. */
const MANY = Array.from({ length: LIMITS.rankedIterations }, (_, i) => 1 + i / 100);

describe("a result", () => {
  it("of a reference that stood in is kept as a run, marked as such, and leaves no point", async () => {
    const { scripted } = await newOnlineRunner();
    const { id } = await submitJob({ deviceKey: "gpu0", onDeviceFailure: "cpu-reference" });
    const offer = await scripted.next("offer");
    const result = benchmarkResult(MANY);
    const faults = [{ code: "kernel-timeout", detail: "It hung.", action: "cpu-reference" }] as const;
    scripted.succeed(offer, {
      ...result,
      variant: "f64-reference",
      fallback: "cpu-reference",
      faults: [...faults],
      environment: { ...result.environment, deviceKey: "cpu" },
    });
    await scripted.next("jobSettled");
    expect((await readJob(id)).result).toMatchObject({ fallback: "cpu-reference", faults });
    expect(await countRuns(id)).toEqual({ runs: 1, points: 0 });
    expect(await countStandings(id)).toBe(0);
  });

  it("of a reference that was not allowed is not taken", async () => {
    const { scripted } = await newOnlineRunner();
    const { id } = await submitJob();
    scripted.succeed(await scripted.next("offer"), { ...benchmarkResult(), fallback: "cpu-reference" });
    await scripted.next("jobSettled");
    expect(await readJob(id)).toMatchObject({ state: "failed", problem: { code: "backend-failed" } });
  });

  it("that was spread is a series of its own", async () => {
    const { scripted } = await newOnlineRunner();
    const { id } = await submitJob({ label: "spread" });
    const part = { batch: 32, p50Ms: 1, gigabytesPerSecond: 2 };
    const parts = ["gpu0", "gpu1"].map((deviceKey) => ({ ...part, deviceKey }));
    scripted.succeed(await scripted.next("offer"), { ...benchmarkResult(MANY), parts });
    await scripted.next("jobSettled");
    expect(await countRuns(id)).toEqual({ runs: 1, points: 2 });
    const { items } = (await callEdge("GET", "/v1/history/series?subject=triad")).json;
    const spread = items.filter(({ label }: { label: string | null }) => label === "spread");
    expect(spread.map(({ configuration }: { configuration: object }) => configuration)).toEqual([
      expect.objectContaining({ devices: 2 }),
      expect.objectContaining({ devices: 2 }),
    ]);
    expect(await countStandings(id)).toBe(0);
  });
});
