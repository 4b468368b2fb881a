import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import type { HistoryPoint, PointsReply } from "../../../src/protocol/history/history.ts";
import { appendMeasurements, type Measurement } from "../../../src/edge/store/history/point-store.ts";
import { seriesIdOf } from "../../../src/edge/store/history/series-store.ts";
import { aggregateQuantile, summarise } from "../../../src/stats/distribution/distribution.ts";
import { MAIN_PROJECT } from "../../../src/protocol/service/project.ts";
import { callEdge, pointersOf } from "../stack/edge-client.ts";

const START_MS = Date.parse("2026-11-21T00:00:00.000Z");
const MINUTE_MS = 60_000;
const samples = Array.from({ length: 10 }, (_, i) => [i + 1, i + 2, 10 * (i + 1)]);

function measurement(index: number, metric = "wallMs"): Measurement {
  const { count, min, max, sum, sketch } = summarise(samples[index] ?? []);
  return {
    project: MAIN_PROJECT,
    key: {
      subjectKind: "kernel",
      subject: "triad",
      metric,
      unit: "ms",
      clock: "runner-wall",
      direction: "lower",
      configuration: { n: 64, dtype: "float32" },
      fingerprint: null,
      software: true,
      label: null,
    },
    atMs: START_MS + index * MINUTE_MS,
    sourceId: `sample-${index}`,
    runId: null,
    aggregate: { count, min, max, sum, sketch },
  };
}

let series = "";
const query = async (search: string): Promise<PointsReply> =>
  (await callEdge("GET", `/v1/history/points?series=${series}${search}`)).json;
const times = (points: HistoryPoint[]) => points.map(({ at }) => (Date.parse(at) - START_MS) / MINUTE_MS);

beforeAll(async () => {
  await appendMeasurements(
    env.DB,
    samples.map((_, index) => measurement(index)),
  );
  series = (await seriesIdOf(measurement(0).key, MAIN_PROJECT)).id;
});

describe("appending", () => {
  it("stores the same measurement once, however often it comes", async () => {
    for (let i = 0; i < 2; i++) await appendMeasurements(env.DB, [measurement(0), measurement(3)]);
    const { series: found, points } = await query("");
    expect(found.points).toBe(samples.length);
    expect(points.map(({ count }) => count)).toEqual(samples.map((values) => values.length));
    expect(found.lastPointAt).toBe(new Date(START_MS + 9 * MINUTE_MS).toISOString());
  });

  it("finds the same series whatever the order of the configuration", async () => {
    const { key } = measurement(0);
    const idOf = async (n: number, project: string) =>
      (await seriesIdOf({ ...key, configuration: { dtype: "float32", n } }, project)).id;
    expect(await idOf(64, MAIN_PROJECT)).toBe(series);
    expect(await idOf(65, MAIN_PROJECT)).not.toBe(series);
    expect(await idOf(64, "other")).not.toBe(series);
  });
});

describe("points", () => {
  it("are as stored, oldest first, with the percentiles that were asked for", async () => {
    const { points } = await query("&percentiles=50,99.9&sketches=true");
    expect(times(points)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    const aggregate = measurement(4).aggregate;
    expect(points[4]).toMatchObject({
      count: 3,
      min: 5,
      max: 50,
      mean: 61 / 3,
      percentiles: { p50: aggregateQuantile(aggregate, 0.5), "p99.9": aggregateQuantile(aggregate, 0.999) },
      sketch: aggregate.sketch,
    });
  });

  it("of one step are merged into what all of its samples would give", async () => {
    const { points, truncated } = await query("&step=5m&sketches=true");
    expect(truncated).toBe(false);
    expect(times(points)).toEqual([0, 5]);
    const whole = summarise(samples.slice(5).flat());
    expect(points[1]).toMatchObject({
      count: 15,
      min: whole.min,
      max: whole.max,
      mean: whole.mean,
      sketch: whole.sketch,
    });
  });

  it("lie between from (inside) and to (outside)", async () => {
    const at = (minute: number) => new Date(START_MS + minute * MINUTE_MS).toISOString();
    expect(times((await query(`&from=${at(3)}&to=${at(6)}`)).points)).toEqual([3, 4, 5]);
    expect(times((await query(`&from=${at(8)}`)).points)).toEqual([8, 9]);
    expect(pointersOf(await callEdge("GET", `/v1/history/points?series=${series}&from=${at(6)}&to=${at(3)}`))).toEqual([
      "query/to",
    ]);
    // The same instants in other spellings: whole seconds lie before the fractions of that second.
    const half = "2026-11-21T00:00:00.500Z";
    expect(times((await query(`&from=2026-11-21T00:00:00Z&to=${half}`)).points)).toEqual([0]);
    expect(
      pointersOf(await callEdge("GET", `/v1/history/points?series=${series}&from=${half}&to=2026-11-21T00:00:00Z`)),
    ).toEqual(["query/to"]);
  });

  it("beyond the limit are cut at the old end, and that is said", async () => {
    const cut = await query("&limit=3");
    expect(cut.truncated).toBe(true);
    expect(times(cut.points)).toEqual([7, 8, 9]);
    expect((await query("&limit=10")).truncated).toBe(false);
    const stepped = await query("&step=5m&limit=1");
    expect(stepped.truncated).toBe(true);
    expect(times(stepped.points)).toEqual([5]);
  });
});

describe("series", () => {
  it("are found by subject, kind and metric, and paged", async () => {
    await appendMeasurements(
      env.DB,
      ["a", "b", "c", "d"].map((metric) => measurement(0, metric)),
    );
    const list = async (search: string) => (await callEdge("GET", `/v1/history/series?${search}`)).json;
    expect((await list("subject=triad&metric=b")).items).toMatchObject([{ subject: "triad", metric: "b", points: 1 }]);
    expect((await list("subjectKind=model")).items).toEqual([]);
    const seen: string[] = [];
    let page = await list("limit=2");
    for (;;) {
      seen.push(...page.items.map(({ id }: { id: string }) => id));
      if (page.nextCursor === null) break;
      page = await list(`limit=2&cursor=${encodeURIComponent(page.nextCursor)}`);
    }
    expect(seen).toHaveLength(5);
    expect(new Set(seen).size).toBe(5);
  });
});
