import { describe, expect, it } from "vitest";
import { type SweepOptions, sweepBatches } from "../../../src/gpu-runner/workloads/sweep-batches.ts";

/** A device whose batches take what `ofRows` says. */
function sweep(ofRows: (rows: number) => number, changes: Partial<SweepOptions> = {}) {
  const asked: number[] = [];
  const serve = async (rows: number) => {
    asked.push(rows);
    return ofRows(rows);
  };
  const options = { maxRows: 32, iterations: 100, stepMs: 1_000_000, isSound: async () => true, onProgress: () => {} };
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

  it("leaves out the size that gains nothing, after a look at it", async () => {
    const { steps, asked } = await sweep((rows) => (rows <= 4 ? 10 : rows * 2.5));
    expect(steps.map(({ rows }) => rows)).toEqual([1, 2, 4]);
    expect(asked.filter((rows) => rows === 8)).toHaveLength(26);
    expect(asked).not.toContain(16);
  });

  it("measures no size that is not sound", async () => {
    const { steps, asked } = await sweep(() => 10, { isSound: async (rows) => rows < 4 });
    expect(steps.map(({ rows }) => rows)).toEqual([1, 2]);
    expect(asked).not.toContain(4);
  });

  it("measures one row whatever it takes, and as many samples as tell a distribution", async () => {
    const { steps } = await sweep(() => 400, { stepMs: 1_000, maxRows: 1 });
    expect(steps).toMatchObject([{ rows: 1, serviceMs: { count: 50 } }]);
    const { steps: few } = await sweep(() => 400, { stepMs: 1_000, maxRows: 1, iterations: 12 });
    expect(few).toMatchObject([{ rows: 1, serviceMs: { count: 12 } }]);
  });

  it("ends with what ends a request", async () => {
    const failing = sweep(() => {
      throw new Error("gone");
    });
    await expect(failing).rejects.toThrow("gone");
  });
});
