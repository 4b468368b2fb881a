import { describe, expect, it } from "vitest";
import { type SweepOptions, sweepBatches } from "../../../../../src/gpu-runner/kinds/calibration/sweep-batches.ts";

/** A device whose batches last `ofRows`, on a clock that only they advance. */
function sweep(ofRows: (rows: number) => number, changes: Partial<SweepOptions> = {}) {
  const asked: number[] = [];
  let nowMs = 0;
  const serve = async (rows: number) => {
    asked.push(rows);
    nowMs += ofRows(rows);
    return ofRows(rows);
  };
  const now = () => nowMs;
  const options = {
    now,
    maxRows: 32,
    iterations: 100,
    stepMs: 1_000_000,
    isSound: async () => true,
    onProgress: () => {},
  };
  return sweepBatches({ ...options, serve, ...changes }).then((steps) => ({ steps, asked }));
}

describe("a sweep of batch sizes", () => {
  it("goes by powers of two to the bound while more rows a second are answered", async () => {
    const { steps } = await sweep((rows) => 10 + rows);
    expect(steps.map(({ rows }) => rows)).toEqual([1, 2, 4, 8, 16, 32]);
    expect(steps.map(({ serviceMs }) => [serviceMs.count, serviceMs.p50])).toEqual(
      [1, 2, 4, 8, 16, 32].map((rows) => [100, 10 + rows]),
    );
    expect((await sweep((rows) => 10 + rows, { maxRows: 24 })).steps.at(-1)?.rows).toBe(16);
  });

  it("leaves out sizes that gain nothing, after a look at two of them", async () => {
    const { steps, asked } = await sweep((rows) => (rows <= 4 ? 10 : rows * 2.5));
    expect(steps.map(({ rows }) => rows)).toEqual([1, 2, 4]);
    expect(asked.filter((rows) => rows === 8)).toHaveLength(26);
    expect(asked.filter((rows) => rows === 16)).toHaveLength(26);
    expect(asked).not.toContain(32);
  });

  it("goes on behind a size that met a bad moment", async () => {
    const { steps } = await sweep((rows) => (rows === 4 ? 1_000 : 10 + rows));
    expect(steps.map(({ rows }) => rows)).toEqual([1, 2, 8, 16, 32]);
  });

  it("measures no size that is not sound", async () => {
    const { steps, asked } = await sweep(() => 10, { isSound: async (rows) => rows < 4 });
    expect(steps.map(({ rows }) => rows)).toEqual([1, 2]);
    expect(asked).not.toContain(4);
  });

  it("ends a size with its time; at most a quarter of it is for warming up", async () => {
    const { steps, asked } = await sweep(() => 400, { stepMs: 10_000, maxRows: 1 });
    expect([asked.length, steps[0]?.serviceMs.count]).toEqual([25, 18]);
    const { steps: few } = await sweep(() => 400, { stepMs: 10_000, maxRows: 1, iterations: 12 });
    expect(few).toMatchObject([{ rows: 1, serviceMs: { count: 12 } }]);
  });

  it("measures one row whatever it takes, by a few samples", async () => {
    const { steps, asked } = await sweep((rows) => rows * 30_000, { stepMs: 5_000 });
    expect(steps).toMatchObject([{ rows: 1, serviceMs: { count: 5 } }]);
    expect(asked).toEqual([1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2]);
  });

  it("ends with what ends a request", async () => {
    const failing = sweep(() => {
      throw new Error("gone");
    });
    await expect(failing).rejects.toThrow("gone");
  });
});
