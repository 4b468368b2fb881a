import { parquetReadObjects } from "hyparquet";
import { describe, expect, it } from "vitest";
import { fingerprintIdOf } from "../../../src/protocol/fleet/hardware.ts";
import type { Heatmap, HistoryLeaderboard, Scaling } from "../../../src/protocol/history/history-query.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import { aggregateQuantile, summarise } from "../../../src/stats/distribution/distribution.ts";
import { callEdge, fetchEdge, pointersOf } from "../stack/edge-client.ts";
import { append, fingerprintNamed, idOf, measured, rollUpAll } from "./history-samples.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START_MS = Date.parse("2026-04-01T00:00:00.000Z");
const at = (ms: number) => new Date(ms).toISOString();
const WEEK = `from=${at(START_MS)}&to=${at(START_MS + 7 * DAY_MS)}`;

async function ask<Body>(path: string): Promise<Body> {
  const reply = await callEdge("GET", `/v1/history/${path}`);
  expect(reply.status, JSON.stringify(reply.json)).toBe(200);
  return reply.json;
}

/** NDJSON too: the runtime warns of `text()` of what it does not know as text. */
async function textOf(path: string): Promise<string> {
  return new TextDecoder().decode(await (await fetchEdge("GET", path)).arrayBuffer());
}

describe("a heat map", () => {
  it("has the counts of all series that are meant, by time and value", async () => {
    const day = (shift: number) => Array.from({ length: 50 }, (_, i) => 1 + shift + i / 10);
    for (const [index, variant] of ["a", "b"].entries())
      await append(
        measured({ subject: "heat", configuration: { variant } }, START_MS, day(index)),
        measured({ subject: "heat", configuration: { variant } }, START_MS + 2 * DAY_MS, day(10 * index)),
      );
    await rollUpAll();
    const map = await ask<Heatmap>(`heatmap?subject=heat&step=1d&rows=12&${WEEK}`);
    expect(map).toMatchObject({
      quantity: { metric: "wallMs", unit: "ms", clock: "runner-wall", direction: "lower", software: false },
      step: "1d",
      times: [at(START_MS), at(START_MS + 2 * DAY_MS)],
      resolution: "1d",
    });
    expect(map.series).toHaveLength(2);
    expect(map.edges.length).toBeLessThanOrEqual(13);
    for (const [index, shifts] of [
      [0, 1],
      [0, 10],
    ].entries()) {
      const values = shifts.flatMap(day);
      const expected = map.edges
        .slice(1)
        .map((high, row) => values.filter((one) => one > (map.edges[row] ?? 0) && one <= high).length);
      expect(map.counts[index]).toEqual(expected);
      expect(map.counts[index]?.reduce((sum, count) => sum + count, 0)).toBe(100);
    }
    expect((await ask<Heatmap>(`heatmap?subject=heat&${WEEK}`)).step).toBe("3h");
  });

  it("is refused of different quantities and of too many steps, and empty of nothing", async () => {
    await append(
      measured({ subject: "warm", metric: "a" }, START_MS, [1]),
      measured({ subject: "warm", metric: "b" }, START_MS, [1]),
      measured({ subject: "warm", metric: "b", direction: "higher" }, START_MS, [1]),
    );
    const refused = async (search: string) => pointersOf(await callEdge("GET", `/v1/history/heatmap?${search}`));
    expect(await refused("subject=warm")).toEqual(["query/metric"]);
    expect(await refused("subject=warm&metric=b")).toEqual(["query/metric"]);
    const toMs = START_MS + (LIMITS.heatmapTimes + 1) * 60_000;
    expect(await refused(`subject=warm&metric=a&step=1m&from=${at(START_MS)}&to=${at(toMs)}`)).toEqual(["query/step"]);
    expect(await ask<Heatmap>("heatmap?subject=cold")).toMatchObject({
      quantity: null,
      series: [],
      times: [],
      counts: [],
    });
  });
});

describe("a scaling curve", () => {
  it("has a point for every number, by size, for each group", async () => {
    for (const variant of ["fp32", "int8"])
      for (const batch of [16, 1, 4])
        for (const day of [0, 1])
          await append(
            measured(
              { subject: "scaled", configuration: { variant, batch, kind: "any" } },
              START_MS + day * DAY_MS,
              Array.from({ length: 6 }, (_, i) => batch * (variant === "fp32" ? 2 : 1) + i + day),
            ),
          );
    await append(measured({ subject: "scaled", configuration: { variant: "fp32" } }, START_MS, [9]));
    const { over, groups } = await ask<Scaling>(`scaling?subject=scaled&groupBy=variant&percentiles=50&${WEEK}`);
    expect(over).toBe("batch");
    expect(groups.map(({ group }) => group)).toEqual([{ variant: "fp32" }, { variant: "int8" }]);
    for (const [index, factor] of [2, 1].entries()) {
      const points = groups[index]?.points ?? [];
      expect(points.map(({ value, count }) => [value, count])).toEqual([1, 4, 16].map((batch) => [batch, 12]));
      const all = summarise([0, 1].flatMap((day) => Array.from({ length: 6 }, (_, i) => 4 * factor + i + day)));
      expect(points[1]).toMatchObject({
        min: all.min,
        max: all.max,
        percentiles: { p50: aggregateQuantile(all, 0.5) },
      });
      expect(points[1]?.interval?.low).toBeLessThan(points[1]?.percentiles["p50"] ?? 0);
    }
    expect((await ask<Scaling>(`scaling?subject=scaled&over=kind&${WEEK}`)).groups).toEqual([]);
    expect((await ask<Scaling>(`scaling?subject=scaled&over=none&${WEEK}`)).groups).toEqual([]);
  });
});

describe("a leaderboard of the history", () => {
  const names = ["GPU slow", "GPU fast", "Emulation"];
  const medians = [8, 2, 1];

  it("ranks devices that did the same work, and software devices apart", async () => {
    for (const [index, adapter] of names.entries())
      for (const m of [64, 128])
        await append(
          measured(
            {
              subject: "ranked",
              fingerprint: fingerprintNamed(adapter),
              software: adapter === "Emulation",
              configuration: { m, variant: `of ${adapter}` },
            },
            START_MS + index * HOUR_MS,
            Array.from({ length: 21 }, (_, i) => (medians[index] ?? 0) * (m / 64) * (1 + (i - 10) / 100)),
          ),
        );
    const { boards } = await ask<HistoryLeaderboard>(`leaderboard?subject=ranked&${WEEK}`);
    expect(boards.map(({ work, software, entries }) => [work, software, entries.length])).toEqual(
      expect.arrayContaining([
        [{ m: 64 }, false, 2],
        [{ m: 128 }, false, 2],
        [{ m: 64 }, true, 1],
        [{ m: 128 }, true, 1],
      ]),
    );
    expect(boards).toHaveLength(4);
    const entries = boards.find(({ work, software }) => work["m"] === 64 && !software)?.entries ?? [];
    expect(entries.map(({ rank, device }) => [rank, device?.name])).toEqual([
      [1, "GPU fast"],
      [2, "GPU slow"],
    ]);
    expect(entries[0]).toMatchObject({ timesWorse: 1, count: 21, points: 1, lastPointAt: at(START_MS + HOUR_MS) });
    expect(entries[1]?.timesWorse).toBeCloseTo(4, 1);
    expect(entries[0]?.interval?.low).toBeLessThan(2);
    expect(entries[0]?.interval?.high).toBeGreaterThan(2);
    const real = await ask<HistoryLeaderboard>(`leaderboard?subject=ranked&software=false&configuration=m=64&${WEEK}`);
    expect(real.boards).toHaveLength(1);
    const byVariant = await ask<HistoryLeaderboard>(
      `leaderboard?subject=ranked&software=false&groupBy=variant,configuration.m&${WEEK}`,
    );
    expect(byVariant.boards.map(({ work, entries: of }) => [work, of.length])).toEqual([[{}, 4]]);
  });

  it("puts the highest first where higher is better, gives equals one rank, and leaves out who measured nothing", async () => {
    const key = (n: number) => ({
      subject: "rates",
      metric: "rate",
      unit: "1/s",
      direction: "higher" as const,
      configuration: { backend: `b${n}` },
    });
    await append(...[3, 6, 6, 1].map((rate, n) => measured(key(n), START_MS, [rate])));
    await append(measured(key(9), START_MS - 30 * DAY_MS, [99]));
    const { boards } = await ask<HistoryLeaderboard>(`leaderboard?subject=rates&groupBy=backend&${WEEK}`);
    expect(boards[0]?.entries.map(({ rank, group, timesWorse }) => [rank, group["backend"], timesWorse])).toEqual([
      [1, "b1", 1],
      [1, "b2", 1],
      [3, "b0", expect.closeTo(2, 1)],
      [4, "b3", expect.closeTo(6, 1)],
    ]);
  });
});

describe("flat rows", () => {
  const hostile = '=HYPERLINK("x"),"y"';

  it("are CSV, NDJSON or Parquet, by Accept or by format, with the same values as JSON", async () => {
    const point = measured(
      { subject: "flat", label: hostile, fingerprint: fingerprintNamed("GPU") },
      START_MS,
      [1, 2, 4],
    );
    await append(point, measured({ subject: "flat", label: "zero" }, START_MS, [0]));
    const id = await fingerprintIdOf(fingerprintNamed("GPU"));
    const path = `/v1/history/query?subject=flat&groupBy=label,device&percentiles=50&${WEEK}`;
    const [first, second] = (await callEdge("GET", path)).json.groups;
    const row = { count: 3, min: 1, max: 4, mean: 7 / 3, p50: first.points[0].percentiles.p50 };
    const csv = await fetchEdge("GET", path, { headers: { accept: "text/csv" } });
    expect(csv.headers.get("content-type")).toBe("text/csv");
    expect(csv.headers.get("vary")).toBe("Accept");
    expect((await csv.text()).split("\r\n").slice(0, 2)).toEqual([
      "label,device,deviceId,deviceName,metric,unit,clock,direction,software,at,count,min,max,mean,p50",
      `"'=HYPERLINK(""x""),""y""",${id},${id},GPU,wallMs,ms,runner-wall,lower,false,${at(START_MS)},3,1,4,${7 / 3},${row.p50}`,
    ]);
    const lines = (await textOf(`${path}&format=ndjson`)).trim().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { label: hostile, deviceId: id, at: at(START_MS), ...row },
      { label: "zero", deviceId: null, count: 1, p50: second.points[0].percentiles.p50 },
    ]);
    const parquet = await fetchEdge("GET", path, { headers: { accept: "application/vnd.apache.parquet" } });
    expect(parquet.headers.get("content-type")).toBe("application/vnd.apache.parquet");
    expect(await parquetReadObjects({ file: await parquet.arrayBuffer() })).toMatchObject([
      { label: hostile, deviceName: "GPU", software: false, at: new Date(START_MS), ...row, count: 3n },
      { label: "zero", deviceName: null },
    ]);
    const json = await fetchEdge("GET", `${path}&format=json`, { headers: { accept: "text/csv" } });
    expect(json.headers.get("content-type")).toContain("application/json");
    expect(pointersOf(await callEdge("GET", `${path}&format=xlsx`))).toEqual(["query/format"]);
  });

  it("are had of every list of the history", async () => {
    const sample = measured({ subject: "lists", configuration: { batch: 2 } }, START_MS, [1, 2, 3]);
    await append(sample, { ...sample, atMs: START_MS + 1, sourceId: "second-of-lists" });
    const id = await idOf(sample);
    for (const [path, rows] of [
      [`series?subject=lists`, 1],
      [`points?series=${id}&sketches=true`, 2],
      [`points?series=${id}&step=1d`, 1],
      [`query?subject=lists&step=1h&${WEEK}`, 1],
      [`scaling?subject=lists&${WEEK}`, 1],
      [`leaderboard?subject=lists&${WEEK}`, 1],
    ] as const) {
      const text = await (await fetchEdge("GET", `/v1/history/${path}&format=csv`)).text();
      expect(text.trimEnd().split("\r\n"), path).toHaveLength(rows + 1);
      const file = await (await fetchEdge("GET", `/v1/history/${path}&format=parquet`)).arrayBuffer();
      expect(await parquetReadObjects({ file }), path).toHaveLength(rows);
    }
    const empty = await (await fetchEdge("GET", `/v1/history/query?subject=absent&format=parquet`)).arrayBuffer();
    expect(await parquetReadObjects({ file: empty })).toEqual([]);
  });

  it("name the next page, and that something was left out, beside themselves", async () => {
    const key = { subject: "beside" };
    await append(...[0, 1, 2].map((ms) => measured(key, START_MS + ms, [ms + 1])));
    const id = await idOf(measured(key, 0, [1]));
    const page = await fetchEdge("GET", `/v1/history/points?series=${id}&limit=2&format=ndjson`);
    expect(page.headers.get("millrace-truncated")).toBe("true");
    const next = /^<(.*)>; rel="next"$/.exec(page.headers.get("link") ?? "")?.[1] ?? "";
    const rest = await fetchEdge("GET", next);
    expect(JSON.parse(new TextDecoder().decode(await rest.arrayBuffer()))).toMatchObject({
      at: at(START_MS),
      count: 1,
    });
    expect(rest.headers.get("link")).toBeNull();
    expect(rest.headers.get("millrace-truncated")).toBeNull();
  });
});
