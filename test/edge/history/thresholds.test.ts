import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { Threshold, ThresholdTrial } from "../../../src/protocol/history/threshold.ts";
import { DEFAULT_QUOTAS } from "../../../src/edge/store/quotas/default-quotas.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import { alertsOf, around, keyOf, plant, tend, timeOf } from "./detection-plants.ts";
import { byNumber, callEdge, pointersOf, problemOf } from "../stack/edge-client.ts";

const create = (rule: object) => callEdge("POST", "/v1/history/thresholds", { body: rule });
const rule = (subject: string, further: object = {}) => ({
  name: "watch",
  selector: { subject },
  test: "percentage",
  upper: 0.2,
  ...further,
});

/** A limit that 14 exceeds, and one that it does not, after a history around 10. */
const CASES = [
  { test: "static", broken: { upper: 12 }, kept: { upper: 15 } },
  { test: "percentage", broken: { upper: 0.2 }, kept: { upper: 0.5 } },
  { test: "z-score", broken: { upper: 0.977 }, kept: { upper: 0.999999, noiseFloor: 0.5 } },
  { test: "t-test", broken: { upper: 0.977 }, kept: { upper: 0.977, noiseFloor: 0.5 } },
  { test: "log-normal", broken: { upper: 0.977 }, kept: { upper: 0.977, noiseFloor: 0.5 } },
  { test: "iqr", broken: { upper: 3 }, kept: { upper: 300 } },
  { test: "delta-iqr", broken: { upper: 3 }, kept: { upper: 300 } },
] as const;

describe("a threshold", () => {
  it("is created, read, listed, replaced with its ETag and deleted", async () => {
    const created = await create(rule("nothing", { consecutive: 2 }));
    expect(created.status).toBe(201);
    expect(created.json).toMatchObject({
      id: expect.stringMatching(/^thr_/),
      version: 1,
      name: "watch",
      test: "percentage",
      upper: 0.2,
      statistic: "p50",
      windowPoints: 64,
      minSample: 5,
      noiseFloor: 0.01,
      minimumEffect: 0,
      consecutive: 2,
    });
    const path = `/v1/history/thresholds/${created.json.id}`;
    const read = await callEdge("GET", path);
    expect(read.json).toEqual(created.json);
    expect((await callEdge("GET", "/v1/history/thresholds")).json.items).toContainEqual(created.json);
    const put = (ifMatch?: string) =>
      callEdge("PUT", path, {
        body: rule("nothing", { test: "static", upper: undefined, lower: 3 }),
        headers: ifMatch === undefined ? {} : { "if-match": ifMatch },
      });
    expect(problemOf(await put()).code).toBe("precondition-required");
    const eTag = String(read.headers.get("etag"));
    const replies = await Promise.all([put(eTag), put(eTag)]);
    expect(replies.map(({ status }) => status).toSorted(byNumber)).toEqual([200, 412]);
    const replaced = (await callEdge("GET", path)).json;
    expect(replaced).toMatchObject({ version: 2, test: "static", lower: 3 });
    expect(replaced).not.toHaveProperty("upper");
    expect((await callEdge("DELETE", path)).status).toBe(204);
    expect((await callEdge("GET", path)).status).toBe(404);
    expect((await callEdge("DELETE", path)).status).toBe(404);
  });

  it("is listed once over pages", async () => {
    for (let i = 0; i < 5; i++) await create(rule(`nothing-${i}`));
    const all: Threshold[] = (await callEdge("GET", "/v1/history/thresholds?limit=200")).json.items;
    const paged: Threshold[] = [];
    let path = "/v1/history/thresholds?limit=2";
    for (;;) {
      const { items, nextCursor } = (await callEdge("GET", path)).json;
      paged.push(...items);
      if (nextCursor === null) break;
      path = `/v1/history/thresholds?limit=2&cursor=${encodeURIComponent(nextCursor)}`;
    }
    expect(paged).toEqual(all);
    expect(new Set(paged.map(({ id }) => id)).size).toBeGreaterThanOrEqual(5);
  });

  it("is refused where its limits make no sense", async () => {
    const pointers = async (further: object) => pointersOf(await create(rule("x", further)));
    expect(await pointers({ upper: undefined })).toEqual(["#/upper"]);
    expect(await pointers({ upper: -0.1, lower: 0 })).toEqual(["#/lower", "#/upper"]);
    for (const test of ["z-score", "t-test", "log-normal"])
      for (const upper of [0.5, 1, 20]) expect(await pointers({ test, upper })).toEqual(["#/upper"]);
    for (const test of ["iqr", "delta-iqr"]) expect(await pointers({ test, upper: 0 })).toEqual(["#/upper"]);
    expect(await pointers({ test: "static", lower: 5, upper: 5 })).toEqual(["#/upper"]);
    expect(await pointers({ windowPoints: 4, minSample: 5 })).toEqual(["#/minSample"]);
    expect(await pointers({ windowPoints: 5, consecutive: 6 })).toEqual(["#/consecutive"]);
    expect(await pointers({ windowPoints: LIMITS.thresholdWindow + 1 })).toEqual(["#/windowPoints"]);
    expect(await pointers({ consecutive: LIMITS.consecutivePoints + 1 })).toEqual(["#/consecutive"]);
    expect(await pointers({ test: "t-tset" })).toEqual(["#/test"]);
    expect(await pointers({ selector: { metrics: "x" } })).toEqual(["#/selector/metrics"]);
  });

  it("is one of a limited number", async () => {
    const { n } = (await env.DB.prepare("select count(*) as n from thresholds").first<{ n: number }>()) ?? { n: 0 };
    const fillers = JSON.stringify(Array.from({ length: DEFAULT_QUOTAS.thresholds - n }, (_, i) => `thr_filler${i}`));
    await env.DB.prepare(
      `insert into thresholds (id, spec, version, created_at_ms, updated_at_ms)
       select value, ?1, 1, 0, 0 from json_each(?2)`,
    )
      .bind(JSON.stringify(rule("nothing")), fillers)
      .run();
    expect(problemOf(await create(rule("x"))).code).toBe("quota-exceeded");
    await env.DB.prepare("delete from thresholds where id like 'thr_filler%'").run();
    expect((await create(rule("x"))).status).toBe(201);
  });
});

describe.each(CASES)("the $test test", ({ test, broken, kept }) => {
  it("opens one alert for a rule and a series, which ends by itself", async () => {
    const subject = `rule-${test}`;
    const series = await plant(keyOf(subject), around(10, 20, 0.04));
    // Values about 10 are not to break it, whatever chance makes of the first few.
    const wanted = rule(subject, { ...broken, test, minSample: 20 });
    const { id } = (await create(wanted)).json;
    await create(rule(subject, { ...kept, test, minSample: 20 }));
    // Too few for a change, so that all comes from the rule.
    await plant(keyOf(subject), [14], 20);
    await tend();
    const [alert, ...more] = await alertsOf(subject);
    expect(more).toEqual([]);
    expect(alert).toMatchObject({ state: "open", direction: "regression", at: timeOf(20), changes: 1 });
    expect(alert?.leading).toMatchObject({ kind: "threshold", thresholdId: id, to: 14, revision: "commit-20" });
    expect(alert?.leading?.limits).toMatchObject({ threshold: "watch", test, lowerLimit: null });
    expect(alert?.leading?.from).toBeCloseTo(10, 0);
    await plant(keyOf(subject), [14.1], 21);
    await tend();
    expect(await alertsOf(subject)).toMatchObject([{ id: alert?.id, state: "open", changes: 1 }]);
    await plant(keyOf(subject), around(10, 2, 0.01), 22);
    await tend();
    expect(await alertsOf(subject)).toMatchObject([{ state: "open" }]);
    await plant(keyOf(subject), around(10, 1, 0.01), 24);
    await tend();
    expect(await alertsOf(subject)).toMatchObject([{ id: alert?.id, state: "resolved" }]);
    expect(await alertsOf(subject)).toMatchObject([{ leading: { returnedAt: timeOf(24) } }]);
    const trial: ThresholdTrial = (
      await callEdge("POST", "/v1/history/thresholds/test", {
        body: { series, threshold: wanted },
      })
    ).json;
    expect(trial.alerts).toEqual([{ direction: "regression", at: timeOf(20), returnedAt: timeOf(24) }]);
    expect(trial.points.map(({ verdict }) => verdict).slice(-5)).toEqual([
      "regression",
      "regression",
      "pass",
      "pass",
      "pass",
    ]);
  });
});

describe("a rule", () => {
  it("says that a history is too short, and never that it passes", async () => {
    const series = await plant(keyOf("young"), [10, 10, 10, 10, 99, 10]);
    const body = { series, threshold: rule("young", { test: "t-test", upper: 0.977 }) };
    const trial: ThresholdTrial = (await callEdge("POST", "/v1/history/thresholds/test", { body })).json;
    expect(trial.points.map(({ verdict }) => verdict)).toEqual([...Array(5).fill("insufficient-history"), "pass"]);
    expect(trial.alerts).toEqual([]);
    expect(trial.truncated).toBe(false);
  });

  it("judges a constant history by the noise floor", async () => {
    await plant(keyOf("still"), [...Array(10).fill(10), 10.2]);
    await create(rule("still", { test: "t-test", upper: 0.99 }));
    await tend();
    expect(await alertsOf("still")).toMatchObject([
      { state: "open", leading: { noiseFloor: 0.01, from: 10, to: 10.2 } },
    ]);
  });

  it("wants so many points in a row, and an effect of some size", async () => {
    const quiet = [10, 10.1, 9.9, 10, 10.1, 9.9, 10, 10.1];
    await plant(keyOf("patient"), [...quiet, 14, ...quiet, 14, 14, 14]);
    await create(rule("patient", { test: "static", upper: 12, consecutive: 3 }));
    await create(rule("patient", { test: "t-test", upper: 0.99, minimumEffect: 0.5 }));
    await tend();
    const alerts = await alertsOf("patient");
    expect(alerts).toMatchObject([{ at: timeOf(17), changes: 1, leading: { limits: { test: "static" } } }]);
  });

  it("looks at the statistic that it names", async () => {
    const series = await plant(keyOf("tailed"), [1, 2, 3, 4, 5, 6]);
    const verdicts = async (statistic: string) => {
      const threshold = rule("tailed", { test: "static", upper: 4.5, statistic });
      const { json } = await callEdge("POST", "/v1/history/thresholds/test", { body: { series, threshold } });
      return json.points.map(({ value }: { value: number }) => value);
    };
    for (const statistic of ["p50", "p95", "p99", "mean", "min", "max"])
      expect(await verdicts(statistic)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("judges only the series that it selects", async () => {
    await create(
      rule("chosen", { test: "static", upper: 12, selector: { subject: "chosen", configuration: { n: 64 } } }),
    );
    await plant(keyOf("chosen"), [10, 14]);
    await plant(keyOf("chosen", { configuration: { n: 65 } }), [10, 14]);
    await plant(keyOf("not-chosen"), [10, 14]);
    await tend();
    expect(await alertsOf("chosen")).toMatchObject([{ changes: 1, leading: { series: { configuration: { n: 64 } } } }]);
    expect(await alertsOf("not-chosen")).toEqual([]);
  });

  it("reports improvements, too, which need no action", async () => {
    await create(rule("lucky", { test: "static", upper: undefined, lower: 8 }));
    await plant(keyOf("lucky"), [10, 6]);
    await tend();
    expect(await alertsOf("lucky")).toMatchObject([{ state: "resolved", direction: "improvement" }]);
  });

  it("and the search find one thing, which is one alert", async () => {
    await create(rule("both-ways"));
    await plant(keyOf("both-ways"), [...around(10, 20), 13]);
    await tend();
    const [first] = await alertsOf("both-ways");
    await plant(keyOf("both-ways"), around(13, 8), 21);
    await tend();
    expect(await alertsOf("both-ways")).toMatchObject([{ id: first?.id, state: "open", changes: 2, scope: "series" }]);
  });

  it("names no series that is not there", async () => {
    const body = { threshold: rule("x"), series: "ser_00000000000000000000000000" };
    expect(pointersOf(await callEdge("POST", "/v1/history/thresholds/test", { body }))).toEqual(["#/series"]);
  });
});

describe("the noise of a series", () => {
  const noiseOf = async (series: string, search = "") =>
    (await callEdge("GET", `/v1/history/series/${series}/noise${search}`)).json;

  it("reports what it could show, and what a change needs", async () => {
    const series = await plant(keyOf("noisy"), around(10, 60, 0.2));
    const noise = await noiseOf(series, "?change=0.05&runs=10");
    expect(noise).toMatchObject({ points: 60, runs: 10, withinRun: null });
    expect(noise.betweenRun).toBeGreaterThan(0.03);
    expect(noise.betweenRun).toBeLessThan(0.09);
    expect(noise.smallestDetectable).toBeGreaterThan(noise.betweenRun);
    expect(noise.runsNeeded).toBeGreaterThan(10);
    const enough = await noiseOf(series, `?runs=${noise.runsNeeded}`);
    expect(enough.smallestDetectable).toBeLessThanOrEqual(0.05);
    expect(enough.runsNeeded).toBeNull();
  });

  it("is unknown of too few runs, and that is said", async () => {
    const series = await plant(keyOf("few"), around(10, 5));
    expect(await noiseOf(series, "?change=0.05")).toMatchObject({
      points: 5,
      betweenRun: null,
      smallestDetectable: null,
      runsNeeded: null,
      reason: "5 points are too few to tell runs apart from noise: 8 are needed",
    });
  });
});
