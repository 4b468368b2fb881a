import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { Alert, type AlertDetail } from "../../../src/protocol/history/alert.ts";
import { detectLanded } from "../../../src/edge/history/detect/detect-landed.ts";
import { readDetectionState } from "../../../src/edge/store/history/detection-store.ts";
import { appendMeasurements } from "../../../src/edge/store/history/point-store.ts";
import { summarise } from "../../../src/stats/distribution/distribution.ts";
import { MAIN_PROJECT } from "../../../src/protocol/service/project.ts";
import { alertsOf, around, fingerprintOf, keyOf, plant, runOf, tend, timeOf } from "./detection-plants.ts";
import { byNumber, callEdge, fetchEdge, pointersOf } from "../stack/edge-client.ts";
import { newOnlineRunner, readUntil, submitJob } from "../stack/queue-client.ts";
import { BOUND } from "../stack/runner-script.ts";
import { benchmarkResult } from "../stack/samples.ts";

const act = (id: string, action: string, body: object = {}) =>
  callEdge("POST", `/v1/history/alerts/${id}/${action}`, { body });
const detect = (body: object) => callEdge("POST", "/v1/history/detections", { body });
const statesOf = (alerts: Alert[]) => alerts.map(({ state, direction }) => [state, direction]);

describe("a step", () => {
  it("gives one alert that names series, time, size and run, and no more with later points", async () => {
    const key = keyOf("stepping", { label: "main" });
    const series = await plant(key, [...around(10, 20), ...around(12, 8)]);
    await tend();
    const alerts = await alertsOf("stepping");
    expect(alerts).toMatchObject([
      { state: "open", direction: "regression", scope: "series", after: timeOf(19), at: timeOf(20), changes: 1 },
    ]);
    const [{ leading, summary }] = alerts as [Alert];
    expect(leading).toMatchObject({
      kind: "step",
      thresholdId: null,
      runId: await runOf("stepping", 20),
      revision: "commit-20",
      previousRunId: await runOf("stepping", 19),
      previousRevision: "commit-19",
      noiseFloor: null,
      series: { id: series, label: "main", direction: "lower" },
    });
    expect(leading?.from).toBeCloseTo(10, 1);
    expect(leading?.to).toBeCloseTo(12, 1);
    expect(leading?.interval?.low).toBeGreaterThan(0.15);
    expect(leading?.interval?.high).toBeLessThan(0.25);
    expect(leading?.confidence).toBeGreaterThan(0.999);
    expect(summary).toMatch(/^stepping wallMs on main went from .* ms \(\+(19|20)(\.\d)? %\)\.$/);
    for (let run = 28; run < 40; run += 3) {
      await plant(key, around(12, 3), run);
      await tend();
    }
    const [later, ...more] = await alertsOf("stepping");
    expect(more).toEqual([]);
    expect(later).toMatchObject({ id: alerts[0]?.id, state: "open", version: 1, changes: 1 });
    expect(later?.leading?.pointsAfter).toBe(20);
  });

  it("is found in a history without any noise, by the noise floor, and that is said", async () => {
    await plant(keyOf("constant"), [...Array(20).fill(10), ...Array(6).fill(12)]);
    await tend();
    const [alert] = await alertsOf("constant");
    expect(alert).toMatchObject({ state: "open", at: timeOf(20) });
    expect(alert?.leading).toMatchObject({ from: 10, to: 12, noiseFloor: 0.01 });
    expect(alert?.leading?.relativeChange).toBeCloseTo(0.2, 9);
  });

  it("is worse where higher is better, if it goes down", async () => {
    const key = keyOf("rate", { metric: "gflops", unit: "GFLOP/s", direction: "higher" });
    await plant(key, [...around(100, 20), ...around(80, 8)]);
    await plant({ ...key, subject: "faster-rate" }, [...around(100, 20), ...around(120, 8)]);
    await tend();
    expect(statesOf(await alertsOf("rate"))).toEqual([["open", "regression"]]);
    expect(statesOf(await alertsOf("faster-rate"))).toEqual([["resolved", "improvement"]]);
  });

  it("for the better is listed, and needs no action", async () => {
    await plant(keyOf("better"), [...around(10, 20), ...around(8, 8)]);
    await tend();
    expect(statesOf(await alertsOf("better"))).toEqual([["resolved", "improvement"]]);
    expect(await alertsOf("better", "&direction=regression")).toEqual([]);
    expect(await alertsOf("better", "&state=open")).toEqual([]);
    expect(await alertsOf("better", "&direction=improvement&state=resolved")).toHaveLength(1);
  });

  it("of one bucket of a sketch is none: a percentile cannot move by less", async () => {
    const key = keyOf("quantised");
    const measured = (run: number, middle: number) => {
      const { count, min, max, sum, sketch } = summarise([1, ...Array(20).fill(middle), 100]);
      const aggregate = { count, min, max, sum, sketch };
      const at = { atMs: Date.parse(timeOf(run)), sourceId: `run ${run}`, runId: `run ${run}` };
      return { project: MAIN_PROJECT, key, ...at, aggregate };
    };
    // Both lie close to a bound of the buckets, on either side of it.
    const bound = Math.exp(230 * Math.log(1.005 / 0.995));
    await appendMeasurements(
      env.DB,
      Array.from({ length: 40 }, (_, run) => measured(run, run < 20 ? bound * 0.9999 : bound * 1.0001)),
    );
    await tend();
    expect(await alertsOf("quantised")).toEqual([]);
  });
});

describe("what is no change", () => {
  it("is a spike, which a plot marks", async () => {
    const values = around(10, 40);
    const series = await plant(keyOf("spiky"), values.with(25, 30).with(26, 31));
    await tend();
    expect(await alertsOf("spiky")).toEqual([]);
    const { changes, spikes } = (await callEdge("GET", `/v1/history/changes?series=${series}`)).json;
    expect(changes).toEqual([]);
    expect(spikes).toEqual([
      { at: timeOf(25), value: 30, runId: await runOf("spiky", 25) },
      { at: timeOf(26), value: 31, runId: await runOf("spiky", 26) },
    ]);
  });

  it("is other hardware, which is another series and is reported as such", async () => {
    const [older, newer] = [fingerprintOf("old card"), fingerprintOf("new card")];
    const first = await plant(keyOf("moved-house", { fingerprint: older }), around(10, 20));
    const second = await plant(keyOf("moved-house", { fingerprint: newer }), around(20, 20), 20);
    await plant(keyOf("moved-house", { fingerprint: fingerprintOf("beside"), label: "other" }), around(5, 20), 20);
    await tend();
    expect(await alertsOf("moved-house")).toEqual([]);
    const detail = (await callEdge("GET", `/v1/history/series/${second}`)).json;
    expect(detail).toMatchObject({ id: second, points: 20, successorOf: first, succeededBy: null });
    expect(detail.hardware).toEqual([
      { seriesId: first, fingerprintId: expect.stringMatching(/^fpr_/), from: timeOf(0), to: timeOf(19) },
      { seriesId: second, fingerprintId: detail.fingerprintId, from: timeOf(20), to: timeOf(39) },
    ]);
    const before = (await callEdge("GET", `/v1/history/series/${first}`)).json;
    expect(before).toMatchObject({ successorOf: null, succeededBy: second });
    expect((await callEdge("GET", `/v1/history/changes?series=${first}`)).json.hardware).toEqual(detail.hardware);
  });

  it("is how often something was counted", async () => {
    const key = keyOf("counting", { subjectKind: "model", metric: "rows", unit: "rows", direction: "higher" });
    await plant(key, [...around(10, 20), ...around(2, 20)]);
    await tend();
    expect(await alertsOf("counting")).toEqual([]);
  });
});

describe("what moved together", () => {
  it("is one alert of a subject for its metrics and shapes", async () => {
    const machine = fingerprintOf("paired machine");
    for (const metric of ["wallMs", "gpuMs"])
      await plant(keyOf("paired", { metric, fingerprint: machine }), [...around(10, 20), ...around(13, 8)]);
    await tend();
    const [alert, ...more] = await alertsOf("paired");
    expect(more).toEqual([]);
    expect(alert).toMatchObject({ scope: "subject", changes: 2, subjects: 1 });
    expect(alert?.summary).toContain("and 1 more series moved at the same time.");
  });

  it("is one alert of the machine from three subjects on, also where some come later", async () => {
    const machine = fingerprintOf("noisy machine");
    const shift = [...around(10, 20), ...around(13, 8)];
    for (const subject of ["wide-a", "wide-b"]) await plant(keyOf(subject, { fingerprint: machine }), shift);
    await tend();
    const [before] = await alertsOf("wide-a");
    expect(before).toMatchObject({ scope: "subject", subjects: 2 });
    for (const subject of ["wide-c", "wide-d"]) await plant(keyOf(subject, { fingerprint: machine }), shift);
    await plant(keyOf("wide-elsewhere", { fingerprint: fingerprintOf("quiet machine") }), shift);
    await tend();
    for (const subject of ["wide-a", "wide-b", "wide-c", "wide-d"])
      expect((await alertsOf(subject)).map(({ id }) => id)).toEqual([before?.id]);
    const detail: AlertDetail = (await callEdge("GET", `/v1/history/alerts/${before?.id}`)).json;
    expect(detail).toMatchObject({ scope: "machine", changes: 4, subjects: 4, state: "open" });
    expect(detail.summary).toContain("more likely the machine than your code");
    expect(detail.items.map(({ series }) => series.subject).toSorted()).toEqual([
      "wide-a",
      "wide-b",
      "wide-c",
      "wide-d",
    ]);
    const elsewhere = await alertsOf("wide-elsewhere");
    expect(elsewhere.map(({ id }) => id)).not.toContain(before?.id);
    expect(elsewhere).toHaveLength(1);
    const byMachine = await callEdge("GET", `/v1/history/alerts?fingerprint=${detail.fingerprintId}`);
    expect(byMachine.json.items.map(({ id }: Alert) => id)).toEqual([before?.id]);
  });

  it("but the other way is another alert, shown as a neighbour", async () => {
    const machine = fingerprintOf("swapped machine");
    await plant(keyOf("swap-up", { fingerprint: machine }), [...around(10, 20), ...around(13, 8)]);
    await plant(keyOf("swap-down", { fingerprint: machine }), [...around(10, 20), ...around(7, 8)]);
    await tend();
    const [[up], [down]] = [await alertsOf("swap-up"), await alertsOf("swap-down")];
    expect([up?.direction, down?.direction]).toEqual(["regression", "improvement"]);
    const { neighbours } = (await callEdge("GET", `/v1/history/alerts/${up?.id}`)).json;
    expect(neighbours.map(({ id }: Alert) => id)).toEqual([down?.id]);
  });

  it("is one alert for one run of what names no hardware, and several for several", async () => {
    const key = (subject: string, metric: string) =>
      keyOf(subject, { subjectKind: "benchmark", metric, fingerprint: null });
    const shift = [...around(10, 20), ...around(13, 8)];
    for (const metric of ["p50", "p99"]) await plant(key("outside-a", metric), shift);
    await plant(key("outside-b", "p50"), shift);
    await tend();
    expect(await alertsOf("outside-a")).toMatchObject([{ changes: 2, scope: "subject", fingerprintId: null }]);
    expect(await alertsOf("outside-b")).toMatchObject([{ changes: 1, scope: "series" }]);
  });
});

describe("an alert", () => {
  it("ends by itself when its series is back where it was, and begins anew with the next change", async () => {
    const key = keyOf("returning");
    await plant(key, [...around(10, 45), ...around(13, 45)]);
    await tend();
    const [alert] = await alertsOf("returning");
    await act(alert?.id ?? "", "acknowledge", { note: "seen" });
    await plant(key, around(10, 45), 90);
    await tend();
    const resolved: Alert = (await callEdge("GET", `/v1/history/alerts/${alert?.id}`)).json;
    expect(resolved).toMatchObject({ state: "resolved", note: expect.stringMatching(/^seen\nResolved by itself: /) });
    expect(resolved.leading?.returnedAt).toBe(timeOf(90));
    expect(statesOf(await alertsOf("returning"))).toEqual([
      ["resolved", "improvement"],
      ["resolved", "regression"],
    ]);
    await plant(key, around(13, 10), 135);
    await tend();
    const [latest, ...older] = await alertsOf("returning");
    expect(latest).toMatchObject({ state: "open", at: timeOf(135) });
    expect(older).toHaveLength(2);
  });

  it("is resolved from the start where the series was back before anybody looked", async () => {
    await plant(keyOf("long-over"), [...around(10, 30), ...around(13, 30), ...around(10, 30)]);
    await tend();
    expect(statesOf(await alertsOf("long-over"))).toEqual(expect.arrayContaining([["resolved", "regression"]]));
    expect(await alertsOf("long-over", "&state=open")).toEqual([]);
  });

  it("stays open while the series is only on its way back", async () => {
    const key = keyOf("half-back");
    await plant(key, [...around(10, 20), ...around(15, 10), ...around(12, 10)]);
    await tend();
    expect(statesOf(await alertsOf("half-back", "&direction=regression"))).toEqual([["open", "regression"]]);
  });

  it("stays dismissed, however often its change is found again", async () => {
    const key = keyOf("dismissing");
    await plant(key, [...around(10, 20), ...around(13, 6)]);
    await tend();
    const [alert] = await alertsOf("dismissing");
    expect((await act(alert?.id ?? "", "dismiss", { note: "a known fault" })).json.state).toBe("dismissed");
    await plant(key, around(13, 6), 26);
    await tend();
    expect((await detect({ selector: { subject: "dismissing" } })).json).toMatchObject({ series: 1, newAlerts: [] });
    expect(await alertsOf("dismissing")).toMatchObject([{ state: "dismissed", note: "a known fault" }]);
    // A further change is a separate one.
    await plant(key, around(17, 10), 32);
    await tend();
    expect(await alertsOf("dismissing", "&state=open")).toMatchObject([{ at: timeOf(32) }]);
  });

  it("of a muted series is muted; others that move with it wake it", async () => {
    const machine = fingerprintOf("muted machine");
    const key = keyOf("muffled", { fingerprint: machine });
    const series = await plant(key, around(10, 20));
    const muted = await callEdge("POST", `/v1/history/series/${series}/mute`);
    expect(muted.json).toMatchObject({ id: series, mutedAt: expect.stringMatching(/Z$/) });
    expect((await callEdge("POST", `/v1/history/series/${series}/mute`)).json.mutedAt).toBe(muted.json.mutedAt);
    await plant(key, around(13, 8), 20);
    await tend();
    const [alert] = await alertsOf("muffled");
    expect(alert).toMatchObject({ state: "muted" });
    await plant(keyOf("loud", { fingerprint: machine }), [...around(10, 20), ...around(13, 8)]);
    await tend();
    expect(await alertsOf("loud")).toMatchObject([{ id: alert?.id, state: "open", changes: 2 }]);
    expect((await callEdge("POST", `/v1/history/series/${series}/unmute`)).json.mutedAt).toBeNull();
    await plant(key, around(16, 8), 28);
    await tend();
    expect(await alertsOf("muffled", "&state=open")).toMatchObject([{ at: timeOf(28) }, { id: alert?.id }]);
  });

  it("changes its state as it may, and by one of two who saw the same version", async () => {
    await plant(keyOf("handled"), [...around(10, 20), ...around(13, 8)]);
    await tend();
    const [{ id }] = (await alertsOf("handled")) as [Alert];
    const read = await callEdge("GET", `/v1/history/alerts/${id}`);
    const eTag = String(read.headers.get("etag"));
    const guarded = (action: string, ifMatch: string) =>
      callEdge("POST", `/v1/history/alerts/${id}/${action}`, { body: {}, headers: { "if-match": ifMatch } });
    const replies = await Promise.all([guarded("acknowledge", eTag), guarded("dismiss", eTag)]);
    expect(replies.map(({ status }) => status).toSorted(byNumber)).toEqual([200, 412]);
    const won = replies.find(({ status }) => status === 200);
    expect(won?.json.version).toBe(2);
    expect(won?.headers.get("etag")).not.toBe(eTag);
    await act(id, "reopen");
    const steps = ["acknowledge", "resolve", "reopen", "dismiss", "reopen"];
    for (const step of steps) expect((await act(id, step, { note: step })).json.note).toBe(step);
    const again = await act(id, "reopen");
    expect(again.status).toBe(409);
    expect(pointersOf(again)).toEqual(["path/action"]);
    await act(id, "dismiss");
    for (const action of ["acknowledge", "resolve", "dismiss"]) expect((await act(id, action)).status).toBe(409);
    expect((await act(id, "forget")).status).toBe(400);
    expect((await act(id, "reopen", { note: "x".repeat(1_001) })).status).toBe(400);
  });

  it("is listed once over pages, newest first", async () => {
    for (const subject of ["page-a", "page-b", "page-c"]) {
      await plant(keyOf(subject), [...around(10, 20), ...around(13, 8)]);
      await tend();
    }
    const all: Alert[] = (await callEdge("GET", "/v1/history/alerts?limit=200")).json.items;
    const paged: Alert[] = [];
    let path = "/v1/history/alerts?limit=2";
    for (;;) {
      const { items, nextCursor } = (await callEdge("GET", path)).json;
      paged.push(...items);
      if (nextCursor === null) break;
      path = `/v1/history/alerts?limit=2&cursor=${encodeURIComponent(nextCursor)}`;
    }
    expect(paged).toEqual(all);
    expect(new Set(paged.map(({ id }) => id)).size).toBe(all.length);
  });
});

describe("the search", () => {
  it("goes on where it stopped, some series at a time, and sees all of a backlog once", async () => {
    await tend();
    const subjects = Array.from({ length: 25 }, (_, i) => `backlog-${i}`);
    for (const subject of subjects) await plant(keyOf(subject), [...around(10, 12), ...around(13, 6)]);
    const { detectedSeq: startSeq } = await readDetectionState(env.DB);
    const found = async () =>
      (await Promise.all(subjects.map((subject) => alertsOf(subject)))).map((alerts) => alerts.length);
    const sum = (counts: number[]) => counts.reduce((a, b) => a + b, 0);
    expect((await detectLanded(env, Date.now(), 1)).isDone).toBe(false);
    expect(sum(await found())).toBe(10);
    expect((await readDetectionState(env.DB)).detectedSeq).toBeGreaterThan(startSeq);
    expect((await detectLanded(env, Date.now(), 1)).isDone).toBe(false);
    expect(sum(await found())).toBe(20);
    expect((await detectLanded(env, Date.now(), 10)).isDone).toBe(true);
    expect(await found()).toEqual(subjects.map(() => 1));
    const { version } = await readDetectionState(env.DB);
    expect((await detectLanded(env, Date.now(), 10)).isDone).toBe(true);
    // Nothing landed, so nothing was searched.
    expect((await readDetectionState(env.DB)).version).toBe(version);
  });

  it("gives one alert even if several search at the same time", async () => {
    const subjects = ["race-a", "race-b", "race-c"];
    for (const subject of subjects) await plant(keyOf(subject), [...around(10, 20), ...around(13, 8)]);
    const search = (subject: string) => detect({ selector: { subject } });
    await Promise.all([tend(), tend(), ...subjects.map(search), ...subjects.map(search)]);
    await tend();
    for (const subject of subjects) expect(await alertsOf(subject)).toHaveLength(1);
  });

  it("is made on demand over the whole history, and a dry one keeps nothing", async () => {
    const series = await plant(keyOf("long"), [...around(10, 100), ...around(13, 400)]);
    await tend();
    // The change is older than the points searched on arrival.
    expect(await alertsOf("long")).toEqual([]);
    const dry = (await detect({ selector: { series: [series] }, dryRun: true })).json;
    expect(dry).toMatchObject({
      series: 1,
      items: [{ seriesId: series, changes: [{ kind: "step", direction: "regression", at: timeOf(100) }] }],
      newAlerts: [],
      truncated: false,
    });
    expect(await alertsOf("long")).toEqual([]);
    const { newAlerts } = (await detect({ selector: { series: [series] } })).json;
    expect((await alertsOf("long")).map(({ id }) => id)).toEqual(newAlerts);
    expect(newAlerts).toHaveLength(1);
  });

  it("takes Otava's parameters, and without a shortest segment gives Otava's answer", async () => {
    const values = around(10, 40).with(30, 30);
    const series = await plant(keyOf("parameters"), [...values, ...around(10.4, 20)]);
    const changesWith = async (parameters: object): Promise<string[]> =>
      (await detect({ selector: { series: [series] }, parameters, dryRun: true })).json.items.flatMap(
        ({ changes }: { changes: { at: string }[] }) => changes.map(({ at }) => at),
      );
    expect(await changesWith({})).toEqual([timeOf(40)]);
    expect(await changesWith({ minMagnitude: 0.1 })).toEqual([]);
    expect(await changesWith({ minSegment: 25 })).toEqual([]);
    expect(await changesWith({ maxP: 1e-60 })).toEqual([]);
    expect(await changesWith({ minSegment: 0, windowPoints: 60 })).not.toEqual([timeOf(40)]);
  });

  it("says which fields of a question are wrong", async () => {
    const wrong = await detect({ selector: { subject: 7, colour: "red" }, parameters: { windowPoints: 1, maxP: 0 } });
    expect(pointersOf(wrong).toSorted()).toEqual([
      "#/parameters/maxP",
      "#/parameters/windowPoints",
      "#/selector/colour",
      "#/selector/subject",
    ]);
  });

  it("looks at live requests by the hour, when it is over", async () => {
    const key = keyOf("live", { subjectKind: "model", metric: "totalMs", clock: "edge-wall" });
    const hourMs = Math.floor(Date.now() / 3_600_000) * 3_600_000;
    const values = [...around(10, 20), ...around(14, 7)];
    const hours = values.map((value, index) => {
      const { count, min, max, sum, sketch } = summarise(around(value, 30, 0.2));
      const atMs = hourMs - (values.length - 1 - index) * 3_600_000;
      const aggregate = { count, min, max, sum, sketch };
      return { project: MAIN_PROJECT, key, atMs, sourceId: `hour ${index}`, runId: null, aggregate };
    });
    // The last hour is not over yet.
    await appendMeasurements(env.DB, hours);
    await tend();
    const [alert] = await alertsOf("live");
    expect(alert).toMatchObject({ state: "open", at: new Date(hourMs - 6 * 3_600_000).toISOString() });
    expect(alert?.leading).toMatchObject({ statistic: "p50", pointsBefore: 20, runId: null });
    expect([5, 6]).toContain(alert?.leading?.pointsAfter);
  });
});

describe("what comes of a job", () => {
  it("is searched at once, announced to pages that listen and to webhooks, before any minute is over", async () => {
    await tend();
    const webhook = (await callEdge("POST", "/v1/webhooks", { body: { url: "https://alerts.test/hook" } })).json;
    const { scripted } = await newOnlineRunner();
    const finish = async (wallMs: number) => {
      await submitJob({ label: "landing" });
      scripted.succeed(await scripted.next("offer"), benchmarkResult(around(wallMs, 5)));
      expect(await scripted.next("jobSettled")).toMatchObject({ stored: true });
    };
    for (let run = 0; run < 12; run++) await finish(10);
    const changes = await fetchEdge("GET", "/v1/events");
    const heard = readUntil(changes, "event: alert");
    for (let run = 0; run < 6; run++) await finish(14);
    await heard;
    const [alert] = await alertsOf("triad");
    expect(alert).toMatchObject({ state: "open", leading: { series: { metric: "wallMs", label: "landing" } } });
    const deliveries = (await callEdge("GET", `/v1/webhooks/${webhook.id}/deliveries`)).json.items;
    expect(deliveries).toMatchObject([{ event: "alert.opened", alertId: alert?.id, state: "pending" }]);
    await act(alert?.id ?? "", "resolve");
    const told = (await callEdge("GET", `/v1/webhooks/${webhook.id}/deliveries`)).json.items;
    expect(told.map(({ event }: { event: string }) => event)).toEqual(["alert.resolved", "alert.opened"]);
    const sent = await env.DB.prepare("select body from webhook_deliveries order by id").all<{ body: string }>();
    const bodies = sent.results.map(({ body }) => JSON.parse(body).data);
    expect(bodies.map((body) => Alert.parse(body))).toMatchObject([
      { id: alert?.id, state: "open", summary: expect.stringContaining("triad wallMs on landing went from") },
      { id: alert?.id, state: "resolved" },
    ]);
  });
});

describe("what is reported from outside", () => {
  it("is searched behind the answer, and its revision is the one to blame", async () => {
    await tend();
    for (let run = 0; run < 26; run++) {
      const body = {
        run: `reported ${run}`,
        at: timeOf(run),
        label: "main",
        revision: `abc${run}`,
        measurements: [{ subject: "reported", metric: "wallMs", unit: "ms", values: around(run < 20 ? 10 : 12, 5) }],
      };
      expect((await callEdge("POST", "/v1/history/points", { body })).status).toBe(201);
    }
    await expect.poll(() => alertsOf("reported"), BOUND).toHaveLength(1);
    const [alert] = await alertsOf("reported");
    expect(alert).toMatchObject({
      state: "open",
      at: timeOf(20),
      leading: { revision: "abc20", previousRevision: "abc19" },
    });
    expect(alert?.leading?.series).toMatchObject({ subjectKind: "benchmark", label: "main" });
  });
});
