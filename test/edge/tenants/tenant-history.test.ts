import { env } from "cloudflare:workers";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Alert } from "../../../src/protocol/history/alert.ts";
import { MAIN_PROJECT } from "../../../src/protocol/service/project.ts";
import { ADMIN, callEdge, createProject, fetchEdge, problemOf, registerRunner } from "../stack/edge-client.ts";
import { around, keyOf, plant, runOf, tend, timeOf } from "../history/detection-plants.ts";
import { device, report } from "../stack/health-samples.ts";
import { BOUND } from "../stack/runner-script.ts";
import { ScriptedRunner } from "../stack/scripted-runner.ts";

/** The histories of two projects in one database. */

const key = keyOf("shared-name", { label: "trunk" });
let lab: string;
/** The same key in either project. */
let mainSeries: string;
let labSeries: string;
/** A webhook in each project, and a threshold of the lab's. */
const hooks: string[] = [];
let rule: string;

beforeAll(async () => {
  ({ secret: lab } = await createProject("lab"));
  for (const secret of [ADMIN, lab]) {
    const made = await callEdge("POST", "/v1/webhooks", { key: secret, body: { url: "https://hooks.test/" } });
    hooks.push(made.json.id);
  }
  // The operator's series would break it, too.
  const body = { name: "w", selector: { subject: "shared-name" }, test: "static", upper: 5 };
  const made = await callEdge("POST", "/v1/history/thresholds", { key: lab, body });
  expect(made.status).toBe(201);
  rule = made.json.id;
  mainSeries = await plant(key, around(10, 28));
  labSeries = await plant(key, [...around(10, 20), ...around(14, 8)], 0, "lab");
  // The tests of webhooks cover the receivers.
  vi.stubGlobal("fetch", () => Promise.resolve(new Response("ok")));
});
afterAll(() => vi.unstubAllGlobals());

const get = async (path: string, secret: string) => (await callEdge("GET", path, { key: secret })).json;
const alertsOf = async (secret: string): Promise<Alert[]> =>
  (await get("/v1/history/alerts?subject=shared-name", secret)).items;

describe("a series", () => {
  it("is another in each project, though its key is the same", async () => {
    expect(labSeries).not.toBe(mainSeries);
    for (const [secret, own] of [
      [ADMIN, mainSeries],
      [lab, labSeries],
    ] as const) {
      const { items } = await get("/v1/history/series?subject=shared-name", secret);
      expect(items.map(({ id }: { id: string }) => id)).toEqual([own]);
      expect((await get(`/v1/history/points?series=${own}`, secret)).points).toHaveLength(28);
      const { groups } = await get("/v1/history/query?subject=shared-name&from=2026-01-01T00:00:00Z", secret);
      expect(groups).toMatchObject([{ points: [{ count: 28 }] }]);
      expect((await get(`/v1/history/series/${own}`, secret)).hardware).toHaveLength(1);
    }
  });

  it("of another project is as one that is not there", async () => {
    const noSeries = [
      `/v1/history/points?series=${labSeries}`,
      `/v1/history/series/${labSeries}`,
      `/v1/history/series/${labSeries}/noise`,
      `/v1/history/changes?series=${labSeries}`,
    ];
    for (const path of noSeries) expect(problemOf(await callEdge("GET", path)).code, path).toBe("not-found");
    expect((await callEdge("POST", `/v1/history/series/${labSeries}/mute`)).status).toBe(404);
    expect((await get(`/v1/history/series/${labSeries}`, lab)).mutedAt).toBeNull();
    const body = { series: labSeries, threshold: { name: "w", selector: {}, test: "static", upper: 1 } };
    expect((await callEdge("POST", "/v1/history/thresholds/test", { body })).status).toBe(404);
    const { pairs } = await get(`/v1/history/compare?a=series:${labSeries}&b=label:trunk`, ADMIN);
    expect(pairs).toEqual([]);
    const run = await runOf("shared-name", 20);
    expect((await get(`/v1/history/compare?a=run:${run}&b=label:trunk`, ADMIN)).a.series).toBe(1);
  });

  it("that was reported is a run of the project whose key reported it", async () => {
    const measurement = { subject: "reported", metric: "wallMs", unit: "ms", direction: "lower", value: 3 };
    const body = { run: "nightly", measurements: [measurement] };
    const reports = [];
    for (const secret of [ADMIN, lab]) {
      const reply = await callEdge("POST", "/v1/history/points", { key: secret, body });
      expect(reply.status, JSON.stringify(reply.json)).toBe(201);
      reports.push(reply.json);
    }
    const [ours, theirs] = reports;
    expect(ours.series).not.toEqual(theirs.series);
    expect((await callEdge("GET", `/v1/runs/${theirs.run.id}`)).status).toBe(404);
    expect((await callEdge("GET", `/v1/runs/${theirs.run.id}`, { key: lab })).status).toBe(200);
  });
});

describe("names", () => {
  it("of baselines are each project's own", async () => {
    const pin = (secret: string, label: string) =>
      callEdge("PUT", "/v1/history/baselines/best", { key: secret, body: { label } });
    expect((await pin(ADMIN, "trunk")).status).toBe(201);
    expect((await pin(lab, "other")).status).toBe(201);
    expect(await get("/v1/history/baselines/best", ADMIN)).toMatchObject({ label: "trunk", version: 1 });
    expect(await get("/v1/history/baselines/best", lab)).toMatchObject({ label: "other", version: 1 });
    expect((await callEdge("DELETE", "/v1/history/baselines/best", { key: lab })).status).toBe(204);
    expect((await callEdge("GET", "/v1/history/baselines/best")).status).toBe(200);
  });
});

describe("an alert", () => {
  it("is of its project, by the rules of that alone, and sent to its webhooks alone", async () => {
    const [ours, theirs] = hooks as [string, string];
    expect((await callEdge("GET", `/v1/history/thresholds/${rule}`)).status).toBe(404);
    await tend();
    expect(await alertsOf(ADMIN)).toEqual([]);
    const alerts = await alertsOf(lab);
    expect(alerts.length).toBeGreaterThan(0);
    const [{ id }] = alerts as [Alert];
    expect((await callEdge("GET", `/v1/history/alerts/${id}`)).status).toBe(404);
    expect((await callEdge("POST", `/v1/history/alerts/${id}/resolve`, { body: {} })).status).toBe(404);
    expect((await get(`/v1/history/alerts/${id}`, lab)).state).toBe("open");
    expect((await get(`/v1/webhooks/${theirs}/deliveries`, lab)).items.length).toBeGreaterThan(0);
    expect((await get(`/v1/webhooks/${ours}/deliveries`, ADMIN)).items).toEqual([]);
    expect((await callEdge("GET", `/v1/webhooks/${theirs}/deliveries`)).status).toBe(404);
    expect((await callEdge("DELETE", `/v1/webhooks/${theirs}`)).status).toBe(404);
    expect((await get("/v1/webhooks", lab)).items).toHaveLength(1);
  });

  it("groups what moved at once on the same hardware, but of one project only", async () => {
    const steps = () => [...around(10, 20), ...around(13, 8)];
    const together = ["one", "two"].map((name) => ({ ...keyOf(`moved-${name}`), fingerprint: key.fingerprint }));
    for (const project of [MAIN_PROJECT, "lab"]) for (const each of together) await plant(each, steps(), 0, project);
    await tend();
    const of = async (secret: string): Promise<Alert[]> =>
      (await get("/v1/history/alerts?subject=moved-one", secret)).items;
    const [ours, theirs] = [await of(ADMIN), await of(lab)];
    expect(ours).toMatchObject([{ changes: 2, at: timeOf(20) }]);
    expect(theirs.map(({ id }) => id)).not.toContain(ours[0]?.id);
    const { items, neighbours } = await get(`/v1/history/alerts/${ours[0]?.id}`, ADMIN);
    expect(items).toHaveLength(2);
    expect(neighbours).toEqual([]);
    const series = items.map((change: { series: { id: string } }) => change.series.id);
    const own = await env.DB.prepare("select distinct project from series where id in (?1, ?2)")
      .bind(...series)
      .all();
    expect(own.results).toEqual([{ project: MAIN_PROJECT }]);
  });

  it("of what is wrong with a runner is of the runner's project", async () => {
    const runner = await registerRunner("ill", lab);
    const scripted = await ScriptedRunner.online(runner);
    // A queue that refuses a fifth of its requests.
    const ill = { placements: [], devices: [device({ computeShare: 0.9, requests: 1_000, refused: 200 })] };
    for (const index of [0, 1, 2]) scripted.send({ type: "health", requestId: null, report: report(index, ill) });
    const path = `/v1/history/alerts?runner=${runner.runnerId}`;
    await expect.poll(async () => (await get(path, lab)).items.length, BOUND).toBe(1);
    expect((await get(path, ADMIN)).items).toEqual([]);
    expect((await fetchEdge("DELETE", `/v1/runners/${runner.runnerId}`, { key: lab })).status).toBe(204);
  });
});
