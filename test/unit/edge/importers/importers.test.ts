import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { importCriterion } from "../../../../src/edge/history/import/criterion.ts";
import { importGoogleBenchmark } from "../../../../src/edge/history/import/google-benchmark.ts";
import { importHyperfine } from "../../../../src/edge/history/import/hyperfine.ts";
import type { Imported } from "../../../../src/edge/history/import/imported.ts";
import { importMitata } from "../../../../src/edge/history/import/mitata.ts";
import { importTinybench } from "../../../../src/edge/history/import/tinybench.ts";
import { LIMITS } from "../../../../src/protocol/wire/limits.ts";
import { ProblemError } from "../../../../src/protocol/wire/problem.ts";
import { ReportInput } from "../../../../src/protocol/history/report.ts";
import { decodeSketch } from "../../../../src/stats/distribution/sketch.ts";

/** Output files of the tools: Google Benchmark 1.7, hyperfine 1.15, mitata 0.1 and 1.0, tinybench 2, 3 and 6. */
const read = (name: string): any => JSON.parse(readFileSync(new URL(name, import.meta.url), "utf8"));

/** Measurements as `subject metric` with their numbers; all of it must be a report. */
function listOf({ report, pointers }: Imported): Record<string, unknown> {
  ReportInput.parse(report);
  expect(pointers).toHaveLength(report.measurements.length);
  return Object.fromEntries(
    report.measurements.map(({ subject, metric, value, values, aggregate }) => [
      `${subject} ${metric}`,
      values ?? value ?? aggregate,
    ]),
  );
}

function pointersOf(work: () => unknown): string[] {
  try {
    work();
  } catch (error) {
    if (error instanceof ProblemError) return (error.problem.errors ?? []).map(({ pointer }) => pointer);
  }
  throw new Error("nothing was refused");
}

/** The value that a JSON pointer of a field error names. */
function at(json: any, pointer: string): unknown {
  return pointer
    .split("/")
    .slice(1)
    .reduce((value, part) => value[part.replaceAll("~1", "/").replaceAll("~0", "~")], json);
}

describe("Google Benchmark", () => {
  const json = read("google-benchmark.json");
  const imported = importGoogleBenchmark(json);

  it("gives repetitions as values of one measurement in milliseconds, with rates and counters", () => {
    const list = listOf(imported);
    const close = (...values: number[]) => values.map((value) => expect.closeTo(value, 12));
    expect(list["BM_sum/8/repeats:2 wallMs"]).toEqual(close(1.0877797733e-5, 9.4734034658e-6));
    expect(list["BM_sum/8/repeats:2 cpuMs"]).toEqual(close(5.2076306149e-6, 5.1897911365e-6));
    expect(list["BM_sum/64/repeats:2 itemsPerSecond"]).toEqual([
      expect.closeTo(1_718_208_400.75, 1),
      expect.closeTo(1_671_116_229.79, 1),
    ]);
    expect(list["BM_sum/64/repeats:2 depth"]).toEqual([3, 3]);
    const direction = Object.fromEntries(
      imported.report.measurements.map(({ metric, direction: way }) => [metric, way]),
    );
    expect(direction).toEqual({
      wallMs: "lower",
      cpuMs: "lower",
      itemsPerSecond: "higher",
      depth: "lower",
      rate: "higher",
    });
  });

  it("leaves out aggregates, complexity and what failed, and says when it ran", () => {
    const subjects = new Set(imported.report.measurements.map(({ subject }) => subject));
    expect([...subjects]).toEqual(["BM_sum/8/repeats:2", "BM_sum/64/repeats:2"]);
    expect(imported.report.at).toBe("2026-11-22T00:16:28.000Z");
  });

  it("takes the mean where only aggregates were reported", () => {
    const benchmarks = json.benchmarks.filter((row: { run_type: string }) => row.run_type === "aggregate");
    const list = listOf(importGoogleBenchmark({ ...json, benchmarks }));
    expect(list["BM_sum/8/repeats:2 wallMs"]).toBeCloseTo(1.0175600599462918e-5, 12);
    expect(Object.keys(list)).toHaveLength(10);
  });

  it.each([
    ["ps", 1e-9],
    ["ns", 1e-6],
    ["us", 1e-3],
    ["ms", 1],
    ["s", 1e3],
  ])("converts %s", (unit, factor) => {
    const row = { name: "a", run_type: "iteration", real_time: 2, time_unit: unit };
    expect(listOf(importGoogleBenchmark({ benchmarks: [row] }))).toEqual({ "a wallMs": 2 * factor });
  });

  it("reads rows of before there were run types, and a date without a time zone as none", () => {
    const row = { name: "a", iterations: 1, real_time: 2e6, cpu_time: 1e6, time_unit: "ns" };
    const older = importGoogleBenchmark({ context: { date: "2016-06-17 18:44:26" }, benchmarks: [row] });
    expect(listOf(older)).toEqual({ "a wallMs": 2, "a cpuMs": 1 });
    expect(older.report.at).toBeUndefined();
  });

  it("names what it cannot read", () => {
    expect(pointersOf(() => importGoogleBenchmark({}))).toEqual(["#/benchmarks"]);
    const row = { name: "a", real_time: 1, time_unit: "fortnight" };
    expect(pointersOf(() => importGoogleBenchmark({ benchmarks: [row] }))).toEqual(["#/benchmarks/0/time_unit"]);
  });
});

describe("criterion", () => {
  const line = {
    reason: "benchmark-complete",
    id: "sort/merge/64",
    report_directory: "target/criterion/reports/sort/merge/64",
    iteration_count: [10, 20, 40],
    measured_values: [20_000, 44_000, 80_000],
    unit: "ns",
    throughput: [],
    typical: { estimate: 2_050, lower_bound: 2_000, upper_bound: 2_100, unit: "ns" },
  };
  const files = {
    group_id: "sort",
    function_id: "merge",
    value_str: "64",
    throughput: null,
    full_id: "sort/merge/64",
    mean: { confidence_interval: { confidence_level: 0.95, lower_bound: 1, upper_bound: 2 }, point_estimate: 2_050 },
    sampling_mode: "Linear",
    iters: [10, 20, 40],
    times: [20_000, 44_000, 80_000],
  };

  it("divides what lines of cargo-criterion measured by the iterations, and passes over other lines", () => {
    const imported = importCriterion([line, { reason: "group-complete", group_name: "sort" }]);
    expect(listOf(imported)).toEqual({
      "sort/merge/64 wallMs": [0.002, 0.0022, 0.002].map((ms) => expect.closeTo(ms, 12)),
    });
    expect(imported.pointers).toEqual(["#/0/measured_values"]);
  });

  it("keeps another unit than time as it is", () => {
    const { report } = importCriterion([{ ...line, unit: "cycles" }]);
    expect(report.measurements).toEqual([
      { subject: "sort/merge/64", metric: "measured", unit: "cycles", values: [2_000, 2_200, 2_000] },
    ]);
  });

  it("reads the files of one benchmark, or of several, and the estimate where there is no sample", () => {
    expect(listOf(importCriterion(files))).toEqual(listOf(importCriterion([line])));
    const { iters: _, times: __, full_id: ___, ...estimates } = files;
    const imported = importCriterion([files, estimates]);
    expect(imported.report.measurements[1]).toMatchObject({ subject: "criterion", value: expect.closeTo(0.00205, 12) });
    expect(imported.pointers).toEqual(["#/0/times", "#/1/mean"]);
  });

  it("names what it cannot read", () => {
    expect(pointersOf(() => importCriterion([line, { ...line, iteration_count: [1] }]))).toEqual([
      "#/1/iteration_count",
    ]);
    expect(pointersOf(() => importCriterion({ ...files, iters: [0, 1, 2] }))).toEqual(["#/iters/0"]);
    expect(pointersOf(() => importCriterion({ ...files, iters: undefined }))).toEqual(["#/iters"]);
    expect(pointersOf(() => importCriterion({}))).toEqual(["#"]);
    expect(pointersOf(() => importCriterion([17]))).toEqual(["#/0"]);
  });
});

describe("hyperfine", () => {
  const json = read("hyperfine.json");

  it("gives times in milliseconds, the means of user and system time, and parameters as configuration", () => {
    const imported = importHyperfine(json);
    const list = listOf(imported);
    expect(list["sleep 0.001 wallMs"]).toEqual([3.586042, 3.182901, 3.086674].map((ms) => expect.closeTo(ms, 9)));
    expect(list["sleep 0.002 userMs"]).toBeCloseTo(1.871, 9);
    expect(list["sleep 0.002 systemMs"]).toBe(0);
    expect(imported.report.measurements.map(({ configuration }) => configuration?.["n"])).toEqual([
      "1",
      "1",
      "1",
      "2",
      "2",
      "2",
    ]);
    for (const pointer of imported.pointers) expect(at(json, pointer)).toBeDefined();
  });

  it("takes memory where it was measured, and the mean where times are not there", () => {
    const [first] = json.results;
    const { times: _, ...older } = first;
    const list = listOf(importHyperfine({ results: [{ ...older, memory_usage_byte: [1_024, 2_048] }] }));
    expect(list["sleep 0.001 wallMs"]).toBeCloseTo(3.285205666666667, 9);
    expect(list["sleep 0.001 memoryBytes"]).toEqual([1_024, 2_048]);
  });

  it("names what it cannot read", () => {
    expect(pointersOf(() => importHyperfine({ results: [{ command: "a", mean: "1" }] }))).toEqual(["#/results/0/mean"]);
  });
});

describe("mitata", () => {
  it("gives samples in milliseconds, by arguments and groups, and says on what CPU and when", () => {
    const json = read("mitata.json");
    const imported = importMitata(json);
    const { report } = imported;
    expect(report.measurements.map(({ subject, configuration }) => [subject, configuration])).toEqual([
      ["noop", { runtime: "node" }],
      ["sum", { runtime: "node", size: 10 }],
      ["sum", { runtime: "node", size: 100 }],
      ["inner", { runtime: "node", group: "g" }],
    ]);
    const [{ stats }] = json.benchmarks[0].runs;
    expect(report.measurements[0]?.values).toEqual(stats.samples.map((ns: number) => ns * 1e-6));
    expect(report).toMatchObject({
      host: { cpu: json.context.cpu.name },
      at: new Date(json.context.now).toISOString(),
    });
    for (const pointer of imported.pointers) expect(at(json, pointer)).toHaveProperty("avg");
  });

  it("gives extremes, mean and percentiles where samples were not printed", () => {
    const json = read("mitata-no-samples.json");
    const { stats } = json.benchmarks[0].runs[0];
    const list = listOf(importMitata(json));
    expect(list["noop wallMs"]).toEqual({
      count: stats.ticks,
      min: stats.min * 1e-6,
      max: stats.max * 1e-6,
      sum: stats.avg * stats.ticks * 1e-6,
      percentiles: {
        p25: stats.p25 * 1e-6,
        p50: stats.p50 * 1e-6,
        p75: stats.p75 * 1e-6,
        p99: stats.p99 * 1e-6,
        "p99.9": stats.p999 * 1e-6,
      },
    });
  });

  it("reads version 0.1", () => {
    const imported = importMitata(read("mitata-0.1.json"));
    expect(Object.keys(listOf(imported))).toEqual(["noop wallMs", "inner wallMs"]);
    expect(imported.report.measurements[1]?.configuration).toEqual({ group: "g" });
    expect(imported.report.host?.cpu).toMatch(/\w/);
  });

  it("adds up more samples than a measurement may have, exactly", () => {
    const samples = Array.from({ length: LIMITS.reportedSamples + 1 }, (_, i) => i + 1);
    const stats = { samples, min: 1, max: samples.length, avg: 1, ticks: 1 };
    const { aggregate } = importMitata({ benchmarks: [{ alias: "a", runs: [{ name: "a", stats }] }] }).report
      .measurements[0]!;
    expect(aggregate).toMatchObject({ count: samples.length, min: 1e-6, max: samples.length * 1e-6 });
    expect(decodeSketch(aggregate?.sketch ?? "").count).toBe(samples.length);
  });

  it("names what it cannot read", () => {
    const runs = [{ name: "a", stats: { min: 1, max: 2 } }];
    expect(pointersOf(() => importMitata({ benchmarks: [{ runs }] }))).toEqual(["#/benchmarks/0/runs/0/stats/avg"]);
  });
});

describe("tinybench", () => {
  it.each(["tinybench-2.json", "tinybench-3.json"])("gives the samples of %s in milliseconds", (name) => {
    const json = read(name);
    const imported = importTinybench(json);
    const [{ result }] = json;
    expect(listOf(imported)).toEqual({ "sum wallMs": (result.latency ?? result).samples });
    expect(imported.pointers).toEqual(["#/0/result"]);
    expect(importTinybench({ tasks: json }).pointers).toEqual(["#/tasks/0/result"]);
  });

  it("gives extremes, mean and percentiles where samples were not kept", () => {
    const json = read("tinybench.json");
    const { latency } = json[0].result;
    const imported = importTinybench(json);
    expect(listOf(imported)).toEqual({
      "sum wallMs": {
        count: latency.samplesCount,
        min: latency.min,
        max: latency.max,
        sum: latency.mean * latency.samplesCount,
        percentiles: {
          p50: latency.p50,
          p75: latency.p75,
          p99: latency.p99,
          "p99.5": latency.p995,
          "p99.9": latency.p999,
        },
      },
    });
    expect(imported.report.measurements[0]?.configuration).toEqual({ runtime: "node" });
  });

  it("leaves out what never ran", () => {
    expect(importTinybench([{ name: "a" }, { name: "b", result: { state: "not-started" } }]).pointers).toEqual([]);
  });

  it("names what it cannot read", () => {
    const result = { latency: { min: 1, max: 2 } };
    expect(pointersOf(() => importTinybench([{ name: "a", result }]))).toEqual(["#/0/result/latency/mean"]);
    expect(pointersOf(() => importTinybench([{ name: "a", result: {} }]))).toContain("#/0/result/mean");
    expect(pointersOf(() => importTinybench("a"))).toEqual(["#"]);
  });
});
