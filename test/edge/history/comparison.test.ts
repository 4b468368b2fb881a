import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { rollUp } from "../../../src/edge/history/rollup/roll-up.ts";
import { appendMeasurements, type Measurement } from "../../../src/edge/store/history/point-store.ts";
import { seriesIdOf } from "../../../src/edge/store/history/series-store.ts";
import type { ComparisonReply } from "../../../src/protocol/history/comparison.ts";
import { createContentId, createId } from "../../../src/protocol/wire/id.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import type { SeriesKey } from "../../../src/protocol/history/series.ts";
import { summarise } from "../../../src/stats/distribution/distribution.ts";
import { lehmer } from "../../../src/stats/random/seeded.ts";
import { MAIN_PROJECT } from "../../../src/protocol/service/project.ts";
import { callEdge, pointersOf, problemOf } from "../stack/edge-client.ts";

const START_MS = Date.parse("2026-03-01T00:00:00.000Z");
const HOUR_MS = 3_600_000;
const draw = lehmer();
/** Approximately normal, of deviation 1. */
const noise = () => Array.from({ length: 12 }, draw).reduce((sum, value) => sum + value, -6);

const device = (cpu: string) => ({ adapter: null, driver: null, dawn: null, toggles: [], ort: null, cpu });

function keyOf(change: Partial<SeriesKey>): SeriesKey {
  return {
    subjectKind: "benchmark",
    subject: "sort",
    metric: "wallMs",
    unit: "ms",
    clock: null,
    direction: "lower",
    configuration: { n: 1_000 },
    fingerprint: device("one"),
    software: false,
    label: "main",
    ...change,
  };
}

interface Planted {
  readonly key: Partial<SeriesKey>;
  readonly runs: number;
  /** Median of the first run, and how much each one adds. */
  readonly level: number;
  /** Relative deviation between runs. */
  readonly between?: number;
  readonly fromHour?: number;
  readonly revision?: string;
}

/** Stores runs an hour apart, each with 40 samples of 2 % noise; returns their ids, oldest first. */
async function plant({ key, runs, level, between = 0.01, fromHour = 0, revision }: Planted): Promise<string[]> {
  const ids: string[] = [];
  const measurements: Measurement[] = [];
  for (let run = 0; run < runs; run++) {
    const median = level * (1 + between * noise());
    const { count, min, max, sum, sketch } = summarise(Array.from({ length: 40 }, () => median * (1 + 0.02 * noise())));
    const runId = createId("run");
    ids.push(runId);
    measurements.push({
      project: MAIN_PROJECT,
      key: keyOf(key),
      atMs: START_MS + (fromHour + run) * HOUR_MS,
      sourceId: `${runId}/1/0`,
      runId,
      revision: revision ?? `commit-${run}`,
      aggregate: { count, min, max, sum, sketch },
    });
  }
  await appendMeasurements(env.DB, measurements);
  return ids;
}

const compare = async (query: Record<string, string>): Promise<ComparisonReply> => {
  const reply = await callEdge("GET", `/v1/history/compare?${new URLSearchParams(query).toString()}`);
  expect(reply.status, JSON.stringify(reply.json)).toBe(200);
  return reply.json;
};
const refusal = (query: Record<string, string>) =>
  callEdge("GET", `/v1/history/compare?${new URLSearchParams(query).toString()}`);
const idOf = async (change: Partial<SeriesKey>) => (await seriesIdOf(keyOf(change), MAIN_PROJECT)).id;

describe("labels", () => {
  beforeAll(async () => {
    for (const [metric, factor, between] of [
      ["worse", 1.1, 0.01],
      ["better", 0.9, 0.01],
      ["same", 1, 0.001],
      ["unclear", 1.03, 0.15],
    ] as const) {
      await plant({ key: { subject: "labels", metric }, runs: 20, level: 10, between });
      await plant({ key: { subject: "labels", metric, label: "change" }, runs: 12, level: 10 * factor, between });
    }
    await plant({ key: { subject: "labels", metric: "gone" }, runs: 6, level: 1 });
    await plant({ key: { subject: "labels", metric: "new", label: "change" }, runs: 6, level: 1 });
  });

  it("are compared series by series by their runs, and series without a partner are reported", async () => {
    const { pairs, unpaired, notes } = await compare({
      a: "label:main",
      b: "label:change",
      subject: "labels",
      minimumEffect: "0.02",
    });
    expect(Object.fromEntries(pairs.map(({ key, verdict }) => [key.metric, verdict]))).toEqual({
      worse: "worse",
      better: "better",
      same: "same",
      unclear: "unclear",
    });
    const worse = pairs.find(({ key }) => key.metric === "worse");
    expect(worse).toMatchObject({
      observation: "runs",
      test: "mann-whitney",
      effect: "large",
      a: { runs: 20, samples: 800, label: "main", seriesId: await idOf({ subject: "labels", metric: "worse" }) },
      b: { runs: 12, samples: 480, label: "change" },
      warnings: [],
    });
    expect(worse?.ratio?.value).toBeCloseTo(1.1, 1);
    expect(worse?.ratio?.interval?.low).toBeGreaterThan(1.05);
    expect(worse?.b.interval?.low).toBeLessThan(worse?.b.value ?? 0);
    expect(worse?.a.min).toBeLessThan(worse?.a.interval?.low ?? 0);
    expect(worse?.summary).toContain("which is worse");
    expect(unpaired.map(({ side, key, reason }) => [side, key.metric, reason])).toEqual([
      ["a", "gone", "no-partner"],
      ["b", "new", "no-partner"],
    ]);
    expect(notes[0]).toContain("4 pairs compared, 4 tested");
    expect(notes[1]).toContain("0.5 %");
  });

  it("turn the verdict where more is better", async () => {
    const key = { subject: "rates", direction: "higher", unit: "1/s" } as const;
    await plant({ key, runs: 10, level: 10 });
    await plant({ key: { ...key, label: "change" }, runs: 10, level: 11 });
    const { pairs } = await compare({ a: "label:main", b: "label:change", subject: "rates" });
    expect(pairs.map(({ verdict }) => verdict)).toEqual(["better"]);
  });

  it("are compared by another statistic, too", async () => {
    const asked = { a: "label:main", b: "label:change", subject: "labels", metric: "worse" };
    const [p50, p99, mean] = await Promise.all(
      ["p50", "p99", "mean"].map(async (statistic) => (await compare({ ...asked, statistic })).pairs[0]),
    );
    expect(p99?.a.value).toBeGreaterThan(1.02 * (p50?.a.value ?? Infinity));
    expect(mean?.a.value).not.toBe(p50?.a.value);
    expect([p99?.verdict, mean?.verdict]).toEqual(["worse", "worse"]);
  });
});

describe("few runs", () => {
  it("of a change are judged by what the history of the other side lets expect", async () => {
    const key = { subject: "few" };
    await plant({ key, runs: 20, level: 10 });
    const [slow] = await plant({ key: { ...key, label: "slow" }, runs: 1, level: 11.5, between: 0 });
    const [usual] = await plant({ key: { ...key, label: "usual" }, runs: 1, level: 10, between: 0 });
    const judged = async (b: string) => (await compare({ a: "label:main", b, subject: "few" })).pairs;
    const [worse] = await judged(`run:${slow}`);
    expect(worse).toMatchObject({
      observation: "prediction",
      test: "student-t",
      verdict: "worse",
      delta: 1,
      b: { runs: 1 },
    });
    expect(worse?.b.latestRunId).toBe(slow);
    expect(worse?.b.value).toBeGreaterThan(worse?.predicted?.high ?? Infinity);
    expect(worse?.summary).toContain("outside of what A's 20 values let expect of one more value in 95 % of cases");
    expect(worse?.warnings).toEqual([expect.stringContaining("One run may be a spike")]);
    const [unclear] = await judged(`run:${usual}`);
    expect(unclear).toMatchObject({ verdict: "unclear", warnings: [] });
    expect(unclear?.summary).toContain("within what");
  });

  it("on both sides leave only samples within runs, and that is said", async () => {
    const key = { subject: "scarce" };
    await plant({ key, runs: 2, level: 10, between: 0 });
    await plant({ key: { ...key, label: "change" }, runs: 1, level: 20, between: 0 });
    const asked = { a: "label:main", b: "label:change", subject: "scarce" };
    const [pair] = (await compare(asked)).pairs;
    expect(pair).toMatchObject({ observation: "samples", verdict: "worse", a: { runs: 2, samples: 80 } });
    expect(pair?.warnings).toEqual([expect.stringContaining("nothing about the noise between runs")]);
    const [tail] = (await compare({ ...asked, statistic: "p99" })).pairs;
    expect(tail).toMatchObject({ observation: "samples", verdict: "unclear", p: null, ratio: { interval: null } });
    expect(tail?.ratio?.value).toBeGreaterThan(1.5);
  });

  it("that are the latest of a series are held against those before them", async () => {
    const key = { subject: "latest" };
    await plant({ key, runs: 10, level: 10 });
    const late = await plant({ key, runs: 1, level: 13, between: 0, fromHour: 10 });
    const [pair] = (await compare({ a: "label:main", b: "last:1", subject: "latest" })).pairs;
    expect(pair).toMatchObject({ observation: "prediction", verdict: "worse", a: { runs: 10 }, b: { runs: 1 } });
    expect(pair?.b.latestRunId).toBe(late[0]);
    const same = await compare({ a: "label:main", b: "label:main", subject: "latest" });
    expect([same.pairs, same.unpaired.map(({ reason }) => reason)]).toEqual([[], ["same-runs"]]);
  });
});

describe("sides", () => {
  it("are windows, revisions, devices and series, and more than one of these at once", async () => {
    const key = { subject: "sides" };
    await plant({ key, runs: 8, level: 10, revision: "old" });
    await plant({ key, runs: 8, level: 12, fromHour: 8, revision: "new" });
    await plant({ key: { ...key, fingerprint: device("two") }, runs: 6, level: 5 });
    const at = (hour: number) => new Date(START_MS + hour * HOUR_MS).toISOString();
    const list = (await callEdge("GET", "/v1/history/series?subject=sides")).json.items;
    const [one, two] = ["one", "two"].map((cpu) =>
      list.find((series: { fingerprint: { cpu: string } }) => series.fingerprint.cpu === cpu),
    );
    const shared = { subject: "sides", fingerprint: one.fingerprintId };
    const counts = async (query: Record<string, string>) =>
      (await compare(query)).pairs.map(({ a, b, verdict }) => [a.runs, b.runs, verdict]);
    expect(await counts({ a: `window:/${at(8)}`, b: `window:${at(8)}/`, ...shared })).toEqual([[8, 8, "worse"]]);
    expect(await counts({ a: "revision:old", b: "revision:new;last:6", ...shared })).toEqual([[8, 6, "worse"]]);
    expect(
      await counts({ a: `device:${one.fingerprintId};last:8`, b: `device:${two.fingerprintId}`, subject: "sides" }),
    ).toEqual([[8, 6, "better"]]);
    expect(await counts({ a: `series:${one.id};revision:old`, b: `series:${two.id}` })).toEqual([[8, 6, "better"]]);
    // Series that are named for all represent their counterparts on the other side.
    expect(await counts({ a: "revision:old", b: `device:${two.fingerprintId}`, series: one.id })).toEqual([
      [8, 6, "better"],
    ]);
    expect(await counts({ a: "label:main", b: "last:5", series: `${one.id},${two.id}` })).toEqual(
      expect.arrayContaining([
        [11, 5, "worse"],
        [1, 5, expect.any(String)],
      ]),
    );
  });

  it("of live requests are their merged samples", async () => {
    const live = (hour: number, level: number): Measurement => {
      const { count, min, max, sum, sketch } = summarise(Array.from({ length: 50 }, (_, i) => level + i / 100));
      const aggregate = { count, min, max, sum, sketch };
      return {
        project: MAIN_PROJECT,
        key: keyOf({ subject: "live-samples" }),
        atMs: START_MS + hour * HOUR_MS,
        sourceId: `${hour}`,
        runId: null,
        aggregate,
      };
    };
    await appendMeasurements(env.DB, [live(0, 5), live(1, 5), live(30, 9)]);
    while (!(await rollUp(env.DB, 1_000)).isDone);
    await env.DB.prepare(
      "delete from points where series_no = (select no from series where subject = 'live-samples')",
    ).run();
    const cut = new Date(START_MS + 24 * HOUR_MS).toISOString();
    const asked = { a: `window:/${cut}`, b: `window:${cut}/`, subject: "live-samples" };
    expect((await compare(asked)).pairs).toMatchObject([
      { observation: "samples", verdict: "worse", a: { runs: 0, samples: 100, min: 5 }, b: { samples: 50, max: 9.49 } },
    ]);
    const same = await compare({ ...asked, a: `window:/` });
    expect(same.unpaired.map(({ reason }) => reason)).toEqual(["same-runs"]);
    const runs = await compare({ ...asked, b: "last:1" });
    expect(runs.unpaired.map(({ side, reason }) => [side, reason])).toEqual([
      ["a", "no-partner"],
      ["b", "no-runs"],
    ]);
  });

  it("are refused where they are wrong, too many, or no partners", async () => {
    const wrong = async (a: string) => pointersOf(await refusal({ a, b: "label:x" }));
    for (const text of ["", "main", "label:", "run:x", "label:a;label:b", "window:x/y", "last:0", "colour:red"])
      expect(await wrong(text), text).toEqual(["query/a"]);
    expect(await wrong("window:2026-02-01T00:00:00Z/2026-01-01T00:00:00Z")).toEqual(["query/a"]);
    expect(await wrong(`last:${LIMITS.comparedPoints + 1}`)).toEqual(["query/a"]);
    await plant({ key: { subject: "units", unit: "1/s", direction: "higher" }, runs: 1, level: 1 });
    const b = `series:${await idOf({ subject: "units", unit: "1/s", direction: "higher" })}`;
    const a = `series:${await idOf({ subject: "labels", metric: "worse" })}`;
    expect(pointersOf(await refusal({ a, b }))).toEqual(["query/b"]);
  });

  it("may have many series, as long as those of the other can be found by their keys", async () => {
    const { aggregate } = { aggregate: summarise([1]) };
    const { count, min, max, sum, sketch } = aggregate;
    const wide = (label: string, total: number) =>
      Array.from({ length: total }, (_, i): Measurement => ({
        project: MAIN_PROJECT,
        key: keyOf({ subject: "wide", label, configuration: { n: i } }),
        atMs: START_MS,
        sourceId: "x",
        runId: createId("run"),
        aggregate: { count, min, max, sum, sketch },
      }));
    await appendMeasurements(env.DB, [...wide("main", LIMITS.queriedSeries + 1), ...wide("change", 3)]);
    const { pairs } = await compare({ a: "label:main", b: "label:change", subject: "wide" });
    expect(pairs).toHaveLength(3);
    expect(pointersOf(await refusal({ a: "label:main", b: "last:1", subject: "wide" }))).toEqual(["query/a"]);
  });
});

describe("many pairs", () => {
  it("are judged together, so that chance is not taken for a change", async () => {
    const { pairs: one } = await compareNoise(1);
    expect(one[0]).toMatchObject({ verdict: "worse", test: "mann-whitney" });
    expect(one[0]?.adjustedP).toBe(one[0]?.p);
    const { pairs } = await compareNoise(40);
    const same = pairs.find(({ key }) => key.configuration["n"] === 0);
    expect(same?.p).toBe(one[0]?.p);
    expect(same).toMatchObject({ verdict: "unclear" });
    expect(same?.adjustedP).toBeGreaterThan(0.05);
    expect(same?.warnings[0]).toContain("among 40 pairs it may be chance");
  });

  /** One series that is worse by the smallest p-value of 5 runs a side (p = 2/252), and others without a change. */
  async function compareNoise(series: number): Promise<ComparisonReply> {
    const subject = `many-${series}`;
    const { count, min, max, sum, sketch } = summarise([1]);
    const point = (n: number, run: number, label: string): Measurement => {
      const level = n === 0 && label === "change" ? 1.2 : 1;
      const value = level * (1 + run / 1_000);
      const aggregate = {
        count,
        min: min * value,
        max: max * value,
        sum: sum * value,
        sketch: sketchOf(value, sketch),
      };
      const key = keyOf({ subject, label, configuration: { n } });
      return {
        project: MAIN_PROJECT,
        key,
        atMs: START_MS + run,
        sourceId: `${run}`,
        runId: createId("run"),
        aggregate,
      };
    };
    const runs = [0, 1, 2, 3, 4];
    await appendMeasurements(
      env.DB,
      Array.from({ length: series }, (_, n) =>
        ["main", "change"].flatMap((label) => runs.map((run) => point(n, run, label))),
      ).flat(),
    );
    return compare({ a: "label:main", b: "label:change", subject, statistic: "mean" });
  }

  const sketchOf = (value: number, one: string) => (value === 1 ? one : summarise([value]).sketch);
});

describe("baselines", () => {
  const path = (name: string) => `/v1/history/baselines/${name}`;

  it("are pinned, moved with their ETag, listed and unpinned", async () => {
    const created = await callEdge("PUT", path("release"), { body: { label: "v1" } });
    expect([created.status, created.headers.get("etag")]).toEqual([201, '"1"']);
    expect(created.json).toMatchObject({ name: "release", label: "v1", version: 1 });
    const move = (headers: Record<string, string>) =>
      callEdge("PUT", path("release"), { body: { label: "v2" }, headers });
    expect(problemOf(await move({})).code).toBe("precondition-required");
    expect(problemOf(await move({ "if-match": '"7"' })).code).toBe("precondition-failed");
    const moved = await move({ "if-match": '"1"' });
    expect([moved.status, moved.headers.get("etag")]).toEqual([200, '"2"']);
    expect((await callEdge("GET", path("release"))).json).toEqual(moved.json);
    await callEdge("PUT", path("other"), { body: { run: createId("run") } });
    const first = (await callEdge("GET", "/v1/history/baselines?limit=1")).json;
    expect(first.items).toMatchObject([{ name: "other" }]);
    const next = (await callEdge("GET", `/v1/history/baselines?limit=1&cursor=${first.nextCursor}`)).json;
    expect([next.items, next.nextCursor]).toEqual([[moved.json], null]);
    expect((await callEdge("DELETE", path("release"))).status).toBe(204);
    expect((await callEdge("GET", path("release"))).status).toBe(404);
    expect(problemOf(await move({ "if-match": "*" })).code).toBe("precondition-failed");
  });

  it("take a run, or a label, a window or both", async () => {
    const window = { from: "2026-01-01T00:00:00Z", to: "2026-02-01T00:00:00Z" };
    const refused = async (body: unknown) => pointersOf(await callEdge("PUT", path("wrong"), { body }));
    expect(await refused({})).toEqual(["#/run"]);
    expect(await refused({ run: createId("run"), label: "x" })).toEqual(["#/run"]);
    expect(await refused({ window: { from: window.to, to: window.from } })).toEqual(["#/window/to"]);
    expect(await refused({ label: "x".repeat(LIMITS.nameLength + 1) })).toEqual(["#/label"]);
    for (const body of [{ window }, { window, label: "main" }]) {
      const name = await createContentId("run", JSON.stringify(body));
      expect((await callEdge("PUT", path(name), { body })).status).toBe(201);
    }
  });

  it("are what a comparison means by their name, and else the label of that name", async () => {
    const key = { subject: "pinned" };
    const [first] = await plant({ key, runs: 1, level: 10 });
    await plant({ key, runs: 9, level: 20, fromHour: 1 });
    await plant({ key: { ...key, metric: "other" }, runs: 9, level: 20, fromHour: 1 });
    await plant({ key: { ...key, label: "branch" }, runs: 6, level: 20 });
    const asked = { a: "baseline:main", b: "label:branch", subject: "pinned" };
    const byLabel = await compare(asked);
    expect(byLabel.a).toMatchObject({ baseline: { name: "main", source: "label" }, label: "main" });
    expect(byLabel.pairs).toMatchObject([{ a: { runs: 10 }, b: { runs: 6 } }]);
    await callEdge("PUT", path("main"), { body: { run: first, selection: { metric: "wallMs" } } });
    const byRun = await compare(asked);
    expect(byRun.a).toMatchObject({ baseline: { name: "main", source: "pinned" }, run: first, label: null, series: 1 });
    expect(byRun.pairs).toMatchObject([{ a: { runs: 1 }, b: { runs: 6 }, verdict: "worse" }]);
    // The shared label is not the pinned run's.
    const shared = await compare({ a: "baseline:main", b: "last:5", subject: "pinned", label: "branch" });
    expect(shared.pairs).toMatchObject([{ a: { label: "main", runs: 1 }, b: { label: "branch", runs: 5 } }]);
  });
});

// Last: earlier tests draw from the same noise.
describe("a side without runs", () => {
  it("is reported as having none, and not as having no partner", async () => {
    await plant({ key: { subject: "revised" }, runs: 10, level: 10 });
    await plant({ key: { subject: "revised", metric: "alone", label: "change" }, runs: 3, level: 10, revision: "r1" });
    const reasons = async (revision: string) => {
      const { unpaired } = await compare({ a: "label:main", b: `revision:${revision}`, subject: "revised" });
      return unpaired.filter(({ side, key }) => side === "b" && key.metric === "alone").map(({ reason }) => reason);
    };
    expect(await reasons("r1")).toEqual(["no-partner"]);
    expect(await reasons("r2")).toEqual(["no-runs"]);
  });
});
