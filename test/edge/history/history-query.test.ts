import { describe, expect, it } from "vitest";
import type { HistoryQueryReply } from "../../../src/protocol/history/history-query.ts";
import { fingerprintIdOf } from "../../../src/protocol/fleet/hardware.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import { aggregateQuantile, summarise } from "../../../src/stats/distribution/distribution.ts";
import { callEdge, pointersOf } from "../stack/edge-client.ts";
import { append, fingerprintNamed, idOf, measured, rollUpAll } from "./history-samples.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START_MS = Date.parse("2026-03-01T00:00:00.000Z");
const at = (ms: number) => new Date(ms).toISOString();
const span = (fromMs: number, toMs: number) => `from=${at(fromMs)}&to=${at(toMs)}`;

async function query(search: string): Promise<HistoryQueryReply> {
  const reply = await callEdge("GET", `/v1/history/query?${search}`);
  expect(reply.status, JSON.stringify(reply.json)).toBe(200);
  return reply.json;
}

describe("a question to several series", () => {
  it("merges them by device exactly, by any step or as a whole, rolled up or not", async () => {
    const devices = ["GPU A", "GPU B"].map(fingerprintNamed);
    const values = (device: number, variant: number, day: number) =>
      Array.from({ length: 5 }, (_, i) => 1 + device * 7 + variant * 3 + day + i / 10);
    for (const days of [[0, 1], [2]]) {
      for (const [device, fingerprint] of devices.entries())
        for (const variant of [0, 1])
          await append(
            ...days.map((day) =>
              measured(
                { subject: "grouped", fingerprint, configuration: { variant: `v${variant}` } },
                START_MS + day * DAY_MS + 5 * HOUR_MS,
                values(device, variant, day),
              ),
            ),
          );
      // The third day stays as it came.
      if (days.includes(0)) await rollUpAll();
    }
    const all = (device: number, days: number[]) =>
      summarise(days.flatMap((day) => [0, 1].flatMap((variant) => values(device, variant, day))));
    const asked = `subject=grouped&groupBy=device&percentiles=50,99&${span(START_MS, START_MS + 3 * DAY_MS)}`;
    const whole = await query(asked);
    expect(whole).toMatchObject({ from: at(START_MS), to: at(START_MS + 3 * DAY_MS), resolution: "1d", step: null });
    const byDay = await query(`${asked}&step=1d`);
    for (const [device, fingerprint] of devices.entries()) {
      const id = await fingerprintIdOf(fingerprint);
      const group = whole.groups.find((one) => one.group["device"] === id);
      expect(group).toMatchObject({ device: { id, name: fingerprint.adapter }, metric: "wallMs", unit: "ms" });
      expect(group?.series).toHaveLength(2);
      const expected = all(device, [0, 1, 2]);
      expect(group?.points).toHaveLength(1);
      expect(group?.points[0]).toMatchObject({ at: at(START_MS), count: 30, min: expected.min, max: expected.max });
      expect(group?.points[0]?.mean).toBeCloseTo(expected.mean);
      expect(group?.points[0]?.percentiles).toEqual({
        p50: aggregateQuantile(expected, 0.5),
        p99: aggregateQuantile(expected, 0.99),
      });
      const days = byDay.groups.find((one) => one.group["device"] === id)?.points ?? [];
      expect(days.map((point) => [point.at, point.percentiles["p50"]])).toEqual(
        [0, 1, 2].map((day) => [at(START_MS + day * DAY_MS), aggregateQuantile(all(device, [day]), 0.5)]),
      );
    }
  });

  it("groups by any dimension, numbers by size, and reports a cut", async () => {
    for (const batch of [1, 2, 16])
      await append(
        measured({ subject: "swept", configuration: { batch, variant: "fp32", m: batch * 2 } }, START_MS, [batch]),
      );
    const window = span(START_MS, START_MS + DAY_MS);
    const values = async (groupBy: string, more = "") =>
      (await query(`subject=swept&groupBy=${groupBy}&${window}${more}`)).groups.map(({ group }) => group);
    expect(await values("batch")).toEqual([{ batch: 1 }, { batch: 2 }, { batch: 16 }]);
    expect(await values("configuration.m,variant")).toEqual(
      [2, 4, 32].map((m) => ({ "configuration.m": m, variant: "fp32" })),
    );
    expect(await values("configuration.none")).toEqual([{ "configuration.none": null }]);
    expect(await values("subject,label,software,backend,metric,clock")).toEqual([
      { subject: "swept", label: null, software: false, backend: null, metric: "wallMs", clock: "runner-wall" },
    ]);
    expect(await values("series")).toHaveLength(3);
    const cut = await query(`subject=swept&groupBy=batch&${window}&limit=2`);
    expect(cut.groups.map(({ group }) => group)).toEqual([{ batch: 1 }, { batch: 2 }]);
    expect(cut.truncated).toBe(true);
  });

  it("never merges what measures something else", async () => {
    const keys = [
      {},
      { metric: "gpuMs" },
      { unit: "s" },
      { clock: "gpu-timestamp" as const },
      { direction: "higher" as const },
      { software: true },
    ];
    await append(...keys.map((key, i) => measured({ subject: "mixed", ...key }, START_MS, [i + 1])));
    const { groups } = await query(`subject=mixed&groupBy=subject&${span(START_MS, START_MS + DAY_MS)}`);
    expect(groups.map(({ points }) => points.map(({ count }) => count))).toEqual(keys.map(() => [1]));
    expect(groups.find(({ software }) => software)?.points[0]?.max).toBe(6);
  });

  it("reads days in the middle, hours and minutes at the ends, and no row more", async () => {
    const nowMs = Date.now();
    const endMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS - 2 * HOUR_MS + 90_000;
    const fromMs = Math.floor((nowMs - 10 * DAY_MS) / DAY_MS) * DAY_MS + 22 * HOUR_MS + 58 * 60_000;
    const times: number[] = [];
    // A point every ten minutes, so that a span by minutes would be many rows.
    for (let ms = fromMs - DAY_MS; ms < endMs + HOUR_MS; ms += 600_000) times.push(ms);
    await append(...times.map((ms) => measured({ subject: "edges" }, ms, [1])));
    await rollUpAll();
    const reply = await callEdge("GET", `/v1/history/query?subject=edges&${span(fromMs, endMs)}`);
    const inside = times.filter((ms) => ms >= fromMs && ms < Math.ceil(endMs / 60_000) * 60_000).length;
    expect(reply.json.groups[0].points).toMatchObject([{ count: inside }]);
    expect(reply.json).toMatchObject({ from: at(fromMs), resolution: "1d" });
    const rows = Number(/rows;desc="(\d+)"/.exec(reply.headers.get("server-timing") ?? "")?.[1]);
    expect(rows).toBeGreaterThan(0);
    expect(rows).toBeLessThan(100);
    expect(inside).toBeGreaterThan(1_000);
  });

  it("is about the last thirty days by default, and widens to whole steps", async () => {
    const todayMs = Math.floor(Date.now() / DAY_MS) * DAY_MS;
    const plain = await query("subject=nothing");
    expect(plain).toMatchObject({ groups: [], from: at(todayMs - 29 * DAY_MS), to: at(todayMs + DAY_MS) });
    const wide = await query(`subject=nothing&step=6h&${span(START_MS + 1, START_MS + 2)}`);
    expect(wide).toMatchObject({ from: at(START_MS), to: at(START_MS + 6 * HOUR_MS), resolution: "1h", step: "6h" });
  });

  it("of seconds reads the points themselves", async () => {
    await append(...[0, 1_000, 11_000].map((ms) => measured({ subject: "seconds" }, START_MS + ms, [ms + 1])));
    const { groups, resolution } = await query(`subject=seconds&step=10s&${span(START_MS, START_MS + 20_000)}`);
    expect(resolution).toBe("measured");
    expect(groups[0]?.points.map((point) => [point.at, point.count])).toEqual([
      [at(START_MS), 2],
      [at(START_MS + 10_000), 1],
    ]);
  });

  it("of too much is refused", async () => {
    const many = Array.from({ length: LIMITS.queriedSeries + 1 }, (_, n) =>
      measured({ subject: "many", configuration: { n } }, START_MS, [1]),
    );
    await append(...many);
    expect(pointersOf(await callEdge("GET", "/v1/history/query?subject=many"))).toEqual(["query/series"]);
    const ids = (await Promise.all(many.slice(0, 3).map(idOf))).join();
    expect((await query(`series=${ids}&${span(START_MS, START_MS + 1)}`)).groups).toHaveLength(3);
    const backwards = await callEdge("GET", `/v1/history/query?${span(START_MS, START_MS - 1)}`);
    expect(pointersOf(backwards)).toEqual(["query/to"]);
    const dimensions = Array.from({ length: LIMITS.groupDimensions + 1 }, (_, i) => `configuration.c${i}`).join();
    expect(pointersOf(await callEdge("GET", `/v1/history/query?groupBy=${dimensions}`))).toEqual(["query/groupBy"]);
  });
});
