import { env } from "cloudflare:workers";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mergePoints } from "../../../src/edge/history/query/merge-parts.ts";
import { readHistory } from "../../../src/edge/history/rollup/read-history.ts";
import { packRollups, rollUp } from "../../../src/edge/history/rollup/roll-up.ts";
import { tendHistory } from "../../../src/edge/history/tend-history.ts";
import { openProject } from "../../../src/edge/store/database.ts";
import { appendMeasurements, type Measurement } from "../../../src/edge/store/history/point-store.ts";
import { parsePack, replaceInPack } from "../../../src/edge/store/history/rollup-pack.ts";
import { readUnrolled, saveRollups } from "../../../src/edge/store/history/rollup-store.ts";
import { findStoredSeries, readSelection, seriesIdOf } from "../../../src/edge/store/history/series-store.ts";
import { summarise } from "../../../src/stats/distribution/distribution.ts";
import { decodeSketch, encodeSketch } from "../../../src/stats/distribution/sketch.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import { MAIN_PROJECT } from "../../../src/protocol/service/project.ts";
import { mainEnv } from "../stack/edge-client.ts";

const DAY_MS = 86_400_000;
const START_MS = Date.parse("2026-03-01T00:00:00.000Z");
const WHOLE = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };
const FORM = { percentiles: [50, 95, 99], sketches: true };
const UNPACKED = "parts is null and step_ms > 3600000";
let samplesSeen = 0;

function measured(subject: string, atMs: number, values: number[], runId: string | null = null): Measurement {
  const { count, min, max, sum, sketch } = summarise(values);
  return {
    project: MAIN_PROJECT,
    key: {
      subjectKind: "benchmark",
      subject,
      metric: "wallMs",
      unit: "ms",
      clock: null,
      direction: "lower",
      configuration: {},
      fingerprint: null,
      software: false,
      label: null,
    },
    atMs,
    sourceId: `source-${samplesSeen++}`,
    runId,
    aggregate: { count, min, max, sum, sketch },
  };
}

/** A point whose sketch is about as long as a report may have it: values of some hundred orders of magnitude. */
function wide(subject: string, atMs: number): Measurement {
  const values = Array.from({ length: 23_000 }, (_, i) => 1e100 * Math.exp(-0.01005 * i));
  return measured(subject, atMs, values);
}

async function numberOf(subject: string): Promise<number> {
  const { id } = await seriesIdOf(measured(subject, 0, [1]).key, MAIN_PROJECT);
  return (await findStoredSeries(openProject(mainEnv), id))?.no ?? -1;
}

/** The series by a step, with sums rounded: floating sums depend on the order in their last digit. */
async function read(no: number, stepMs: number | null) {
  const { buckets } = await readHistory(env.DB, [no], WHOLE, stepMs);
  const points = await mergePoints(buckets, stepMs, FORM);
  return points.map((point) => ({ ...point, mean: Number(point.mean.toPrecision(12)) }));
}

/** Stores all rollups as before packs: minutes are rows, and nothing has parts. */
async function forgetPacks(): Promise<void> {
  const { results } = await env.DB.prepare(
    "select series_no as no, at_ms as atMs, parts from rollups where step_ms = 3600000 and parts <> ''",
  ).all<{ no: number; atMs: number; parts: string }>();
  const minutes = results.flatMap(({ no, atMs, parts }) => parsePack(parts, no, atMs, 60_000));
  const insert = env.DB.prepare(
    `insert into rollups (series_no, step_ms, at_ms, run_id, count, min, max, sum, sketch)
     values (?1, 60000, ?2, ?3, ?4, ?5, ?6, ?7, ?8)`,
  );
  await env.DB.batch([
    ...minutes.map((m) => insert.bind(m.seriesNo, m.atMs, m.runId, m.count, m.min, m.max, m.sum, m.sketch)),
    env.DB.prepare("update rollups set parts = null"),
  ]);
}

async function countOf(table: "points" | "rollups", where: string): Promise<number> {
  const found = await env.DB.prepare(`select count(*) as n from ${table} where ${where}`).first<{ n: number }>();
  return found?.n ?? -1;
}

const point = fc.record({
  // Of one day and a half, so that all widths have several points in a rollup and several rollups.
  atMs: fc.nat(1.5 * DAY_MS).map((ms) => START_MS + ms),
  values: fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 5 }),
  runId: fc.constantFrom(null, "run_a", "run_b"),
});
/** What follows a batch; `aged`: all rollups become as they were stored before packs. */
const roll = fc.constantFrom("none", "rolled", "aged", "upgraded");
const batches = fc.array(fc.array(point, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 5 });

describe("rolling up", () => {
  it("loses nothing: whenever it happened, every step gives what all points together give", async () => {
    let round = 0;
    await fc.assert(
      fc.asyncProperty(batches, fc.array(roll, { minLength: 5, maxLength: 5 }), async (parts, rolls) => {
        const [rolled, plain] = [`rolled-${round}`, `plain-${round++}`];
        for (const [index, part] of parts.entries()) {
          await appendMeasurements(
            env.DB,
            part.map(({ atMs, values, runId }) => measured(rolled, atMs, values, runId)),
          );
          if (rolls[index] !== "none") await rollUp(env.DB, 10);
          if (rolls[index] === "aged") await forgetPacks();
          if (rolls[index] === "upgraded") while (await packRollups(env.DB));
        }
        // These stay as they came, and are merged by the step when they are read.
        await appendMeasurements(
          env.DB,
          parts.flat().map(({ atMs, values, runId }) => measured(plain, atMs, values, runId)),
        );
        const [rolledNo, plainNo] = [await numberOf(rolled), await numberOf(plain)];
        for (const stepMs of [60_000, 300_000, 3_600_000, DAY_MS, 7 * DAY_MS, 28 * DAY_MS])
          expect(await read(rolledNo, stepMs)).toEqual(await read(plainNo, stepMs));
        const total = parts.flat().length;
        const { id } = await seriesIdOf(measured(rolled, 0, [1]).key, MAIN_PROJECT);
        const [series] = (await readSelection(openProject(mainEnv), { series: [id] }, 1)).series;
        expect(series?.points).toBe(total);
        expect(series?.lastPointAtMs).toBe(Math.max(...parts.flat().map(({ atMs }) => atMs)));
      }),
      { numRuns: 12, seed: 20_261_121 },
    );
  });

  it("puts a late point into the rollups of its time", async () => {
    await appendMeasurements(env.DB, [measured("late", START_MS, [1]), measured("late", START_MS + DAY_MS, [9])]);
    await rollUp(env.DB, 10);
    await appendMeasurements(env.DB, [measured("late", START_MS + 30_000, [3])]);
    await rollUp(env.DB, 10);
    const no = await numberOf("late");
    expect((await read(no, DAY_MS)).map(({ count, max }) => [count, max])).toEqual([
      [2, 3],
      [1, 9],
    ]);
    expect((await read(no, 60_000)).map(({ count }) => count)).toEqual([2, 1]);
  });

  it("packs the rollups of days and four weeks that were stored before packs", async () => {
    const days = 40;
    await appendMeasurements(
      env.DB,
      Array.from({ length: days }, (_, i) => measured("old", START_MS + i * DAY_MS, [i])),
    );
    while (!(await rollUp(env.DB, 10)).isDone);
    await forgetPacks();
    const no = await numberOf("old");
    const [before, unpacked] = [await read(no, DAY_MS), await countOf("rollups", UNPACKED)];
    expect(unpacked).toBeGreaterThanOrEqual(days);
    while (await packRollups(env.DB));
    expect(await countOf("rollups", UNPACKED)).toBe(0);
    expect(await read(no, DAY_MS)).toEqual(before);
    const { rowsRead } = await readHistory(env.DB, [no], { fromMs: START_MS, toMs: START_MS + days * DAY_MS }, DAY_MS);
    expect(rowsRead).toBeLessThan(days / 2);
  });

  it("holds the widest sketches, and loses no point to them", async () => {
    const minutes = 40;
    const points = Array.from({ length: minutes }, (_, i) => wide("wide", START_MS + i * 60_000));
    expect(points[0]!.aggregate.sketch.length).toBeGreaterThan(0.9 * LIMITS.reportedSketchLength);
    await appendMeasurements(env.DB, points);
    while (!(await rollUp(env.DB, 10)).isDone);
    const no = await numberOf("wide");
    const { count = 0, max = 0 } = points[0]?.aggregate ?? {};
    expect((await read(no, 60_000)).map((one) => one.count)).toEqual(Array.from({ length: minutes }, () => count));
    for (const stepMs of [3_600_000, DAY_MS, 28 * DAY_MS]) {
      const [whole] = await read(no, stepMs);
      expect(whole).toMatchObject({ count: minutes * count, max });
      // Such a sketch has as many values in each order of magnitude; the upper ones are those that are kept.
      expect(Math.abs(Math.log10(whole?.percentiles.p99 ?? 0) - 99)).toBeLessThan(0.1);
    }
  });

  it("packs the widest sketches that were stored before packs", async () => {
    const points = Array.from({ length: 30 }, (_, i) => wide("old-wide", START_MS + i * DAY_MS));
    await appendMeasurements(env.DB, points);
    while (!(await rollUp(env.DB, 10)).isDone);
    await forgetPacks();
    const no = await numberOf("old-wide");
    const { sketch = "", count = 0 } = points[0]?.aggregate ?? {};
    await env.DB.prepare(`update rollups set sketch = ?1 where series_no = ?2`).bind(sketch, no).run();
    while (await packRollups(env.DB));
    expect(await countOf("rollups", UNPACKED)).toBe(0);
    expect((await read(no, DAY_MS)).map((one) => one.count)).toEqual(points.map(() => count));
    expect(await countOf("rollups", `series_no = ${no} and octet_length(parts) > 1e6`)).toBe(0);
  });

  it("ends a step where its rollups are long", async () => {
    const subjects = Array.from({ length: 12 }, (_, i) => `long-${i}`);
    const append = (minute: number) =>
      appendMeasurements(
        env.DB,
        subjects.map((subject) => measured(subject, START_MS + minute * 60_000, [1])),
      );
    await append(0);
    await rollUp(env.DB, 10);
    const { aggregate } = wide("x", 0);
    const sketch = encodeSketch(decodeSketch(aggregate.sketch), LIMITS.rollupSketchLength);
    const parts = Array.from({ length: 59 }, (_, place) => ({ ...aggregate, sketch, place, runId: null }));
    const numbers = await Promise.all(subjects.map(numberOf));
    await env.DB.prepare(
      "update rollups set parts = ?1 where step_ms = 3600000 and series_no in (select value from json_each(?2))",
    )
      .bind(replaceInPack("", parts), JSON.stringify(numbers))
      .run();
    await append(59);
    const first = await rollUp(env.DB, 1);
    expect(first.isDone).toBe(false);
    expect(first.points).toBeGreaterThan(0);
    expect(first.points).toBeLessThan(subjects.length);
    expect(await rollUp(env.DB, 1)).toEqual({ points: subjects.length - first.points, isDone: true });
    const { buckets } = await readHistory(env.DB, numbers, WHOLE, 60_000);
    expect(buckets.length).toBe(60 * subjects.length);
  });

  it("names the run of a rollup only if all of it came from that one", async () => {
    await appendMeasurements(env.DB, [
      measured("runs", START_MS, [1], "run_a"),
      measured("runs", START_MS + 3_600_000, [1], "run_b"),
    ]);
    await rollUp(env.DB, 10);
    const no = await numberOf("runs");
    expect((await read(no, 3_600_000)).map(({ runId }) => runId)).toEqual(["run_a", "run_b"]);
    expect((await read(no, DAY_MS)).map(({ runId }) => runId)).toEqual([null]);
  });

  it("counts a step once, even if two begin it at the same time", async () => {
    await appendMeasurements(
      env.DB,
      Array.from({ length: 50 }, (_, i) => measured("twice", START_MS + i * 1_000, [i])),
    );
    await Promise.all([rollUp(env.DB, 10), rollUp(env.DB, 10), rollUp(env.DB, 10)]);
    await rollUp(env.DB, 10);
    expect(await read(await numberOf("twice"), DAY_MS)).toMatchObject([{ count: 50, max: 49 }]);
  });

  it("changes nothing with a step that another one overtook", async () => {
    await appendMeasurements(env.DB, [measured("overtaken", START_MS, [1])]);
    const { state, points } = await readUnrolled(env.DB, 10);
    await rollUp(env.DB, 10);
    const no = await numberOf("overtaken");
    const before = await read(no, DAY_MS);
    const seq = points.at(-1)?.seq ?? 0;
    const { aggregate } = measured("x", 0, [7]);
    const stale = { seriesNo: no, stepMs: DAY_MS, atMs: START_MS, runId: null, parts: "", ...aggregate } as const;
    expect(await saveRollups(env.DB, state, seq, [stale], [[no, 1, 0]])).toBe("overtaken");
    expect(await read(no, DAY_MS)).toEqual(before);
    expect((await readUnrolled(env.DB, 10)).points).toEqual([]);
  });

  it("reads a long span of many series by pages, in order", async () => {
    const minutes = 700;
    const subjects = ["page-a", "page-b", "page-c"];
    for (const subject of subjects)
      await appendMeasurements(
        env.DB,
        Array.from({ length: minutes }, (_, i) => measured(subject, START_MS + i * 60_000, [i])),
      );
    while (!(await rollUp(env.DB, 10)).isDone);
    const numbers = await Promise.all(subjects.map(numberOf));
    const { buckets, rowsRead } = await readHistory(env.DB, numbers.toReversed(), WHOLE, 60_000);
    expect(buckets.map(({ seriesNo, min }) => [seriesNo, min])).toEqual(
      numbers.toSorted((a, b) => a - b).flatMap((no) => Array.from({ length: minutes }, (_, i) => [no, i])),
    );
    // Only the rows of the question are billed, not all around it.
    expect(rowsRead).toBeLessThan(1.2 * buckets.length);
  });

  it("finds series without reading the points that are rolled up", async () => {
    const subject = "found-cheaply";
    await appendMeasurements(
      env.DB,
      Array.from({ length: 500 }, (_, i) => measured(subject, START_MS + i * 60_000, [i])),
    );
    while (!(await rollUp(env.DB, 10)).isDone);
    await appendMeasurements(env.DB, [measured(subject, START_MS, [1])]);
    let rowsRead = 0;
    const counting = new Proxy(env.DB, {
      get(target, name) {
        if (name === "prepare") return target.prepare.bind(target);
        return async (statements: D1PreparedStatement[]) => {
          const results = await target.batch(statements);
          for (const { meta } of results) rowsRead += meta.rows_read;
          return results;
        };
      },
    });
    const { series } = await readSelection(openProject({ ...mainEnv, DB: counting }), { subject }, 10);
    expect(series.map(({ points }) => points)).toEqual([501]);
    expect(rowsRead).toBeGreaterThan(0);
    expect(rowsRead).toBeLessThan(100);
  });

  it("is stored in the order of its key", async () => {
    const { sql = "" } =
      (await env.DB.prepare("select sql from sqlite_master where name = 'rollups'").first<{ sql: string }>()) ?? {};
    expect(sql).toMatch(/WITHOUT ROWID/);
  });
});

describe("tending the history", () => {
  it("forgets old points of requests and old fine rollups, but none of runs and no day", async () => {
    const nowMs = Date.now();
    const hourMs = nowMs - (nowMs % 3_600_000);
    const old = nowMs - 500 * DAY_MS;
    await appendMeasurements(env.DB, [
      measured("kept", old, [1], null),
      measured("kept", old + 1, [2], "run_a"),
      measured("kept", nowMs, [3], null),
    ]);
    await env.DB.prepare("update history_state set detected_seq = 1e9").run();
    const no = await numberOf("kept");
    // Each part of the series has one hour of the day.
    for (let hour = 0; hour < 24; hour++) await tendHistory(env, hourMs + hour * 3_600_000);
    expect(await countOf("points", `series_no = ${no}`)).toBe(2);
    expect(await countOf("points", `series_no = ${no} and run_id is not null`)).toBe(1);
    expect((await read(no, 60_000)).map(({ count }) => count)).toEqual([1]);
    expect((await read(no, 3_600_000)).map(({ count }) => count)).toEqual([1]);
    expect(await countOf("rollups", `series_no = ${no} and step_ms = 3600000`)).toBe(1);
    expect((await read(no, DAY_MS)).map(({ count }) => count)).toEqual([2, 1]);
  });

  it("forgets a series of requests that has no points for long, with its changes and alerts", async () => {
    const nowMs = Date.now();
    const hourMs = nowMs - (nowMs % 3_600_000);
    const old = nowMs - 900 * DAY_MS;
    const idle = measured("idle", old, [1]);
    // Recent points of earlier tests would hold those behind them.
    await env.DB.prepare("update history_state set pruned_seq = (select max(seq) from points)").run();
    await appendMeasurements(env.DB, [
      idle,
      measured("resting", nowMs - 700 * DAY_MS, [1]),
      measured("run-once", old, [1], "run_old"),
    ]);
    await env.DB.prepare("update history_state set detected_seq = 1e9").run();
    const [idleNo, restingNo] = [await numberOf("idle"), await numberOf("resting")];
    const insertAlert = env.DB.prepare(
      `insert into alerts (id, project, state, direction, after_ms, at_ms, created_at_ms, updated_at_ms)
       values (?1, 'main', 'open', 'regression', 0, 1, 1, 1)`,
    );
    const insertChange = env.DB.prepare(
      `insert into changes (id, series_no, alert_id, kind, direction, after_ms, at_ms, evidence, created_at_ms)
       values (?1, ?2, ?3, 'step', 'regression', 0, 1, '{}', 1)`,
    );
    await env.DB.batch([
      insertAlert.bind("alr_of_idle"),
      insertAlert.bind("alr_of_both"),
      insertChange.bind("chg_alone", idleNo, "alr_of_idle"),
      insertChange.bind("chg_joined", idleNo, "alr_of_both"),
      insertChange.bind("chg_resting", restingNo, "alr_of_both"),
    ]);
    const counted = () =>
      env.DB.prepare("select series from project_counts where project = 'main'").first<number>("series");
    const before = (await counted()) ?? 0;
    for (let hour = 0; hour < 24; hour++) await tendHistory(env, hourMs + hour * 3_600_000);
    expect(await numberOf("idle")).toBe(-1);
    expect(await countOf("rollups", `series_no = ${idleNo}`)).toBe(0);
    for (const subject of ["resting", "run-once"]) expect(await numberOf(subject)).toBeGreaterThan(0);
    expect(await counted()).toBe(before - 1);
    const left = await env.DB.prepare(
      "select id from alerts where id like 'alr_of%' union select id from changes where id like 'chg_%' order by id",
    ).all<{ id: string }>();
    expect(left.results.map(({ id }) => id)).toEqual(["alr_of_both", "chg_resting"]);
    await env.DB.batch([
      env.DB.prepare("delete from changes where id = 'chg_resting'"),
      env.DB.prepare("delete from alerts where id = 'alr_of_both'"),
    ]);
    // The isolate remembers that it stored the series.
    await appendMeasurements(env.DB, [{ ...idle, atMs: nowMs }]);
    expect(await numberOf("idle")).toBeGreaterThan(0);
  });

  it("deletes no point that was not looked at for changes", async () => {
    await env.DB.prepare("update history_state set detected_seq = 0, pruned_seq = 0").run();
    await appendMeasurements(env.DB, [measured("unseen", START_MS, [1], null)]);
    await tendHistory(env, Date.now());
    expect(await countOf("points", `series_no = ${await numberOf("unseen")}`)).toBe(1);
  });
});
