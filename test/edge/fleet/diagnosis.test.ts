import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Alert, AlertAction } from "../../../src/protocol/history/alert.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import type { Diagnosis, HealthReport } from "../../../src/protocol/fleet/health.ts";
import { callEdge, createKey, missingId, problemOf } from "../stack/edge-client.ts";
import { device, report, type ReportFields } from "../stack/health-samples.ts";
import { linkStub, newOnlineRunner, newRunner } from "../stack/queue-client.ts";
import { BOUND } from "../stack/runner-script.ts";
import type { ScriptedRunner } from "../stack/scripted-runner.ts";
import { skipTimers } from "../stack/stopped-clock.ts";

afterEach(() => vi.restoreAllMocks());

const WELL: ReportFields = { placements: [] };
/** A queue that refuses a fifth of its requests. */
const ILL: ReportFields = { placements: [], devices: [device({ computeShare: 0.9, requests: 1_000, refused: 200 })] };

const ask = (runnerId: string) => callEdge("GET", `/v1/runners/${runnerId}/diagnosis`);

async function alertsOf(runnerId: string, query = ""): Promise<Alert[]> {
  return (await callEdge("GET", `/v1/history/alerts?runner=${runnerId}${query}`)).json.items;
}

/** Sends periodic reports, and waits until the last of them is read; on a busy thread it may be kept later. */
async function tell(scripted: ScriptedRunner, fields: ReportFields, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    scripted.send({ type: "health", requestId: null, report: report(index, fields) });
  }
  scripted.send({ type: "echo", id: count });
  await scripted.next("echoReply");
}

const waitForState = (runnerId: string, state: Alert["state"]) =>
  vi.waitFor(async () => {
    const [alert] = await alertsOf(runnerId);
    expect(alert?.state).toBe(state);
    return alert as Alert;
  }, BOUND);

async function act(alert: Alert, action: AlertAction): Promise<Alert> {
  const reply = await callEdge("POST", `/v1/history/alerts/${alert.id}/${action}`, { body: {} });
  expect(reply.status).toBe(200);
  return reply.json;
}

/** An online runner with an open alert. */
async function newIllRunner() {
  const runner = await newOnlineRunner();
  await tell(runner.scripted, ILL, 3);
  return { ...runner, alert: await waitForState(runner.runnerId, "open") };
}

describe("a finding", () => {
  it("opens one alert, with all notifications, and resolves it when it is gone", async () => {
    const webhook = await callEdge("POST", "/v1/webhooks", { body: { url: "https://watch.example/hook" } });
    const { runnerId, scripted, alert } = await newIllRunner();
    expect(alert).toMatchObject({
      kind: "finding",
      runnerId,
      direction: "regression",
      scope: "machine",
      leading: null,
    });
    expect(alert).toMatchObject({ changes: 0, subjects: 0, fingerprintId: null, version: 1 });
    expect(alert.finding).toMatchObject({
      kind: "queueing",
      runnerId,
      deviceKey: "cpu",
      measured: 0.2,
      expected: 0.05,
    });
    expect(alert.summary).toContain("200 of 1000 requests");
    await tell(scripted, ILL, 3);
    expect(await alertsOf(runnerId)).toHaveLength(1);
    await tell(scripted, WELL, 6);
    const resolved = await waitForState(runnerId, "resolved");
    expect(resolved).toMatchObject({ id: alert.id, version: 2, note: "Resolved by itself: it is gone." });
    const { items } = (await callEdge("GET", `/v1/webhooks/${webhook.json.id}/deliveries`)).json;
    const own = items.filter(({ alertId }: { alertId: string }) => alertId === alert.id);
    expect(own.map(({ event }: { event: string }) => event).toSorted()).toEqual(["alert.opened", "alert.resolved"]);
    await callEdge("DELETE", `/v1/webhooks/${webhook.json.id}`);
  });

  it("that comes back soon opens the same alert again", async () => {
    const { runnerId, scripted, alert } = await newIllRunner();
    await tell(scripted, WELL, 6);
    await waitForState(runnerId, "resolved");
    await tell(scripted, ILL, 2);
    const again = await waitForState(runnerId, "open");
    expect(again).toMatchObject({ id: alert.id, version: 3 });
    expect(again.note?.split("\n")).toEqual(["Resolved by itself: it is gone.", "Opened again: it came back."]);
  });

  it.each([
    ["dismiss", "dismissed"],
    ["mute", "muted"],
    ["resolve", "resolved"],
  ] as const)("whose alert somebody chose to %s alerts nobody while it lasts", async (action, state) => {
    const { runnerId, scripted, alert } = await newIllRunner();
    expect(await act(alert, action)).toMatchObject({ state, version: 2 });
    await tell(scripted, ILL, 3);
    expect(await alertsOf(runnerId)).toMatchObject([{ id: alert.id, state }]);
  });

  it("that is muted stays so when it is gone and comes back", async () => {
    const { runnerId, scripted, alert } = await newIllRunner();
    await act(alert, "mute");
    await tell(scripted, WELL, 7);
    await tell(scripted, ILL, 3);
    expect(await alertsOf(runnerId)).toMatchObject([{ state: "muted" }]);
    expect((await act(alert, "reopen")).state).toBe("open");
  });

  it("survives that its object is evicted between reports", async () => {
    const { runnerId, scripted } = await newOnlineRunner();
    await tell(scripted, ILL, 1);
    const countKept = () =>
      runInDurableObject(linkStub(runnerId), (_, { storage }) =>
        storage.sql.exec("select count(*) as reports from recent_reports").one(),
      );
    await expect.poll(countKept, BOUND).toEqual({ reports: 1 });
    await evictDurableObject(linkStub(runnerId));
    await tell(scripted, ILL, 1);
    expect((await waitForState(runnerId, "open")).version).toBe(1);
    await evictDurableObject(linkStub(runnerId));
    await tell(scripted, WELL, 6);
    await waitForState(runnerId, "resolved");
  });

  it("ends with its runner", async () => {
    const { runnerId } = await newIllRunner();
    expect((await callEdge("DELETE", `/v1/runners/${runnerId}`)).status).toBe(204);
    await waitForState(runnerId, "resolved");
    const kept = await runInDurableObject(linkStub(runnerId), (_, { storage }) =>
      storage.sql.exec("select count(*) as reports from recent_reports").one(),
    );
    expect(kept).toEqual({ reports: 0 });
  });

  it("is reported although an earlier report could not be read", async () => {
    const { runnerId, scripted } = await newOnlineRunner();
    const [told] = report(0).placements;
    const unreadable = { ...told!, serviceMs: { ...told!.serviceMs!, sketch: "no sketch" } };
    await tell(scripted, { ...ILL, placements: [unreadable] }, 2);
    expect(await alertsOf(runnerId)).toEqual([]);
    await tell(scripted, ILL, 2);
    await waitForState(runnerId, "open");
  });

  it("is listed by kind, runner and state, and described by its id", async () => {
    const { runnerId, alert } = await newIllRunner();
    expect(await alertsOf(runnerId, "&kind=finding&state=open")).toEqual([alert]);
    expect(await alertsOf(runnerId, "&kind=change")).toEqual([]);
    expect(await alertsOf(missingId.runner)).toEqual([]);
    const { json } = await callEdge("GET", `/v1/history/alerts/${alert.id}`);
    expect(json).toEqual({ ...alert, items: [], neighbours: [] });
  });
});

describe("a diagnosis", () => {
  const answer = async (scripted: ScriptedRunner, told: HealthReport) => {
    const { requestId } = await scripted.next("healthRequest");
    scripted.send({ type: "health", requestId, report: told });
  };

  it("is the runner's answer when it is asked, line by line, and judged only there", async () => {
    const { runnerId, scripted } = await newOnlineRunner();
    const reply = ask(runnerId);
    await answer(scripted, report(0, ILL));
    const { status, json } = await reply;
    expect(status).toBe(200);
    const { checks, ...rest } = json as Diagnosis;
    expect(rest).toMatchObject({ runnerId, online: true, fresh: true, healthy: true, findings: [] });
    expect(rest.report.devices[0]?.refused).toBe(200);
    expect(rest.reportedAt).toBe(rest.report.at);
    expect(checks.map(({ check, outcome }) => `${check} ${outcome}`)).toEqual([
      "utilisation pass",
      "occupancy unknown",
      "bandwidthShare unknown",
      "queueDepth pass",
      "errorRate pass",
      "pageOuts pass",
      "hostLoad pass",
      "memoryGrowth unknown",
      "throttling unknown",
    ]);
    // A report on request is no report of the watch.
    expect(
      (await env.DB.prepare("select count(*) as n from alerts where runner_id = ?").bind(runnerId).first())?.n,
    ).toBe(0);
  });

  it("names what fails, by how much, and which setting to change", async () => {
    const { runnerId, scripted } = await newOnlineRunner();
    const reply = ask(runnerId);
    const queue = device({ waiting: 300, longestWaiting: 400, requests: 1_000, errors: 100, computeShare: 0.1 });
    const memory = { pageOuts: 50, migrationBytes: 0 };
    const host = { busyShare: 1, ownShare: 0.1 };
    const kernels = {
      at: report(0).at,
      kernel: "gemm",
      occupancyShare: 0.1,
      bandwidthShare: 0.05,
      arithmeticShare: 0.1,
    };
    const unknown = { submissionsPerSecond: null, synchronisationShare: null };
    await answer(scripted, report(0, { devices: [{ ...queue, kernels: { ...kernels, ...unknown } }], host, memory }));
    const { checks, healthy } = (await reply).json as Diagnosis;
    expect(healthy).toBe(false);
    const failed = checks.filter(({ outcome }) => outcome === "fail");
    expect(failed.map(({ check, measured }) => [check, measured])).toEqual([
      ["utilisation", 0.1],
      ["occupancy", 0.1],
      ["bandwidthShare", 0.05],
      ["queueDepth", 400],
      ["errorRate", 0.1],
      ["pageOuts", 300],
      ["hostLoad", 0.9],
    ]);
    for (const { advice, limit } of failed) {
      expect(advice).toMatch(/`/);
      expect(limit).not.toBeNull();
    }
  });

  it("of a runner that does not answer is of its last report", async () => {
    const { runnerId, scripted } = await newIllRunner();
    const silent = (await ask(runnerId)).json as Diagnosis;
    expect(silent).toMatchObject({ online: true, fresh: false, healthy: false, findings: [{ kind: "queueing" }] });
    scripted.socket.close(1000, "gone");
    await vi.waitFor(async () => {
      expect((await ask(runnerId)).json).toMatchObject({ online: false, fresh: false, reportedAt: silent.reportedAt });
    }, BOUND);
  });

  it("is not available for a runner that never reported anything, nor with another key", async () => {
    const { runnerId } = await newRunner();
    expect(problemOf(await ask(runnerId)).code).toBe("runner-offline");
    expect(problemOf(await ask(missingId.runner)).code).toBe("not-found");
    const { secret } = await createKey(["infer"]);
    expect(problemOf(await callEdge("GET", `/v1/runners/${runnerId}/diagnosis`, { key: secret })).code).toBe(
      "forbidden",
    );
    const silent = await newOnlineRunner();
    const countWaits = skipTimers(LIMITS.onlyReportMs);
    expect(problemOf(await ask(silent.runnerId))).toMatchObject({ code: "budget-exceeded", status: 504 });
    expect(countWaits()).toBe(1);
    expect([LIMITS.healthReportMs, LIMITS.onlyReportMs]).toEqual([2_000, 10_000]);
  });
});
