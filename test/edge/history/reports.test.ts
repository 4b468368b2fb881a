import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { storeReport } from "../../../src/edge/history/import/store-report.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import { ReportInput, type ReportReply } from "../../../src/protocol/history/report.ts";
import { ReportRun, Run, RunSamples } from "../../../src/protocol/history/run.ts";
import { summarise } from "../../../src/stats/distribution/distribution.ts";
import {
  byNumber,
  callEdge,
  countStored,
  createKey,
  fetchEdge,
  mainEnv,
  pointersOf,
  problemOf,
  type Reply,
  type Sent,
} from "../stack/edge-client.ts";

const AT = "2026-11-21T09:30:00.000Z";
const PATH = "/v1/history/points";
const wall = { subject: "sum", metric: "wallMs", unit: "ms" };

let submitter: { id: string; secret: string };
beforeAll(async () => {
  submitter = await createKey(["submit", "read"]);
});

const send = (body: unknown, query = "", sent: Sent = {}) =>
  callEdge("POST", `${PATH}${query}`, { key: submitter.secret, body, ...sent });

async function report(body: object, query = ""): Promise<ReportReply> {
  const reply = await send(body, query);
  expect(reply.status).toBe(201);
  expect(reply.headers.get("location")).toBe(`/v1/runs/${reply.json.run.id}`);
  return reply.json;
}

const readPoints = async (series: string | undefined) =>
  (await callEdge("GET", `${PATH}?series=${series}`)).json.points;

describe("a report", () => {
  it("is a run with points of series that were never there", async () => {
    const { run, points, series } = await report({
      run: "build-17",
      at: AT,
      label: "main",
      revision: "0123abc",
      host: { cpu: "Sample CPU" },
      measurements: [
        { ...wall, configuration: { size: 64 }, values: [1, 2, 6] },
        { ...wall, metric: "itemsPerSecond", unit: "1/s", direction: "higher", value: 5 },
      ],
    });
    expect(ReportRun.parse(run)).toEqual({
      origin: "report",
      id: run.id,
      owner: submitter.id,
      name: "build-17",
      tool: "native",
      label: "main",
      revision: "0123abc",
      points: 2,
      samplesBytes: expect.any(Number),
      at: AT,
      storedAt: expect.any(String),
    });
    expect(points).toBe(2);
    expect(series).toHaveLength(2);
    expect(Run.parse((await callEdge("GET", `/v1/runs/${run.id}`)).json)).toEqual(run);
    const found = (await callEdge("GET", `/v1/history/series?series=${series[0]}`)).json.items[0];
    expect(found).toMatchObject({
      ...wall,
      subjectKind: "benchmark",
      direction: "lower",
      clock: null,
      configuration: { size: 64 },
      fingerprint: { cpu: "Sample CPU", adapter: null, driver: null, dawn: null, toggles: [], ort: null },
      software: false,
      label: "main",
    });
    expect(await readPoints(series[0])).toEqual([
      expect.objectContaining({ at: AT, count: 3, min: 1, max: 6, mean: 3, runId: run.id }),
    ]);
    const row = env.DB.prepare("select revision from points where run_id = ?").bind(run.id);
    expect(await row.first("revision")).toBe("0123abc");
  });

  it("is stored whole where the database was set back to a time before its series", async () => {
    const measurements = [
      { ...wall, subject: "set-back", value: 1 },
      { ...wall, subject: "kept", value: 1 },
    ];
    const { series } = await report({ run: "before-the-restore", measurements });
    await env.DB.batch([
      env.DB.prepare("delete from points where series_no = (select no from series where id = ?)").bind(series[0]),
      env.DB.prepare("delete from series where id = ?").bind(series[0]),
    ]);
    const again = await report({ run: "after-the-restore", measurements });
    expect(again.series).toEqual(series);
    expect(await readPoints(series[0])).toHaveLength(1);
    expect(await readPoints(series[1])).toHaveLength(2);
  });

  it("may hold measurements of other times and labels, and one series twice", async () => {
    const { series } = await report({
      at: AT,
      label: "main",
      measurements: [
        { ...wall, subject: "twice", value: 1 },
        { ...wall, subject: "twice", value: 2 },
        { ...wall, subject: "twice", at: "2025-01-01T00:00:00Z", value: 3 },
        { ...wall, subject: "twice", label: "other", value: 4 },
      ],
    });
    expect(series).toHaveLength(2);
    const points = await readPoints(series[0]);
    const found = points.map(({ at, min }: { at: string; min: number }) => `${at.slice(0, 4)}: ${min}`);
    expect(found.toSorted()).toEqual(["2025: 3", "2026: 1", "2026: 2"]);
  });

  it("may hold sums instead of values, with a sketch or with percentiles", async () => {
    const { count, min, max, sum, sketch } = summarise([1, 2, 3, 4, 100]);
    const percentiles = { p50: 3, p99: 90 };
    const { series, run } = await report({
      measurements: [
        { ...wall, subject: "summed", aggregate: { count, min, max, sum, sketch } },
        { ...wall, subject: "estimated", aggregate: { count: 1_000, min, max, sum: 4_000, percentiles } },
      ],
    });
    expect(run.samplesBytes).toBeNull();
    const [[summed], [estimated]] = await Promise.all(series.map(readPoints));
    expect(summed).toMatchObject({ count, min, max, mean: 22 });
    expect(summed.percentiles.p99).toBeCloseTo(100, 0);
    expect(estimated).toMatchObject({ count: 1_000, mean: 4 });
    expect(estimated.percentiles.p50).toBeCloseTo(3, 1);
  });

  it("is announced to all listeners", async () => {
    const feed = await fetchEdge("GET", "/v1/events");
    const reader = feed.body?.pipeThrough(new TextDecoderStream()).getReader();
    await report({ measurements: [{ ...wall, subject: "announced", value: 1 }] });
    let text = "";
    while (!text.includes('"history"')) text += (await reader?.read())?.value ?? "";
    await reader?.cancel();
    expect(text).toContain('"type":"history"');
  });
});

describe("the same report", () => {
  const body = { run: "again", measurements: [{ ...wall, subject: "again", values: [1, 2] }] };

  it("again is the run that is there, with its time, and stores nothing", async () => {
    const first = await report(body);
    const before = await countStored();
    for (let i = 0; i < 3; i++) {
      const reply = await send(body);
      expect([reply.status, reply.json]).toEqual([200, first]);
    }
    expect(await countStored()).toEqual(before);
  });

  it("is recognised without a name, too", async () => {
    const { run: _, ...unnamed } = body;
    const first = await report(unnamed);
    expect((await send(unnamed)).json).toEqual(first);
    const [measured] = unnamed.measurements;
    const other = await report({ measurements: [{ ...measured, values: [1, 3] }] });
    expect(other.run.id).not.toBe(first.run.id);
  });

  it("many times at once is stored once", async () => {
    const at = new Date(Date.now()).toISOString();
    for (const extras of [{}, { at }]) {
      const measurements = Array.from({ length: 20 }, (_, i) => ({ ...wall, subject: `at-once-${i}`, value: i }));
      const copy = { run: `at-once-${Object.keys(extras).length}`, ...extras, measurements };
      const replies = await Promise.all(Array.from({ length: 8 }, () => send(copy)));
      expect(replies.map(({ status }) => status).toSorted(byNumber)).toEqual([200, 200, 200, 200, 200, 200, 200, 201]);
      const [first] = replies;
      for (const { json } of replies) expect(json).toEqual(first?.json);
      const count = env.DB.prepare("select count(*) as n from points where run_id = ?").bind(first?.json.run.id);
      expect(await count.first("n")).toBe(20);
    }
  });

  it("of another key is another run", async () => {
    const first = await report({ ...body, run: "shared" });
    const { secret } = await createKey(["submit"]);
    const second = await send({ ...body, run: "shared" }, "", { key: secret });
    expect(second.status).toBe(201);
    expect(second.json.run.id).not.toBe(first.run.id);
    expect(second.json.series).toEqual(first.series);
  });

  it.each([
    ["another value", { measurements: [{ ...wall, subject: "again", values: [1, 3] }] }, ""],
    ["another label", { label: "other" }, ""],
    ["a time", { at: AT }, ""],
    ["another revision by the query", {}, "?revision=other"],
  ])("with %s is refused, and nothing of it is stored", async (_, changes, query) => {
    await send(body);
    const before = await countStored();
    const reply = await send({ ...body, ...changes }, query);
    expect(problemOf(reply).code).toBe("conflict");
    expect(pointersOf(reply)).toEqual(["#/run"]);
    expect(await countStored()).toEqual(before);
  });

  it("with other content at the same time is stored of one only", async () => {
    const bodies = Array.from({ length: 6 }, (_, i) => ({
      run: "contested",
      measurements: [{ ...wall, subject: "contested", values: [i, i + 1] }],
    }));
    const replies = await Promise.all(bodies.map((each) => send(each)));
    expect(replies.map(({ status }) => status).toSorted(byNumber)).toEqual([201, 409, 409, 409, 409, 409]);
    const winner = replies.findIndex(({ status }) => status === 201);
    const { run, series } = (replies[winner] as Reply).json;
    expect((await readPoints(series[0])).map(({ min }: { min: number }) => min)).toEqual([winner]);
    const { measurements } = (await callEdge("GET", `/v1/runs/${run.id}/samples`)).json;
    expect(measurements[0].values).toEqual([winner, winner + 1]);
  });
});

describe("a database in trouble", () => {
  const input = ReportInput.parse({
    run: "troubled",
    measurements: [{ ...wall, subject: "troubled", values: [1, 2] }],
  });
  const store = (batch: (statements: D1PreparedStatement[]) => Promise<unknown>) => {
    const db = new Proxy(env.DB, {
      get: (target, name) => {
        const value: unknown = name === "batch" ? batch : Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const nowMs = Date.parse(AT);
    return storeReport({ ...mainEnv, DB: db }, { ownerId: submitter.id, tool: "native", report: input, nowMs });
  };
  const countRows = async () => {
    const { points, reports, series } = await countStored();
    return { points, reports, series };
  };

  it("leaves nothing of a report, which may come again", async () => {
    const before = await countRows();
    await expect(store(() => Promise.reject(new Error("away")))).rejects.toThrow("away");
    expect(await countRows()).toEqual(before);
    expect(await store((statements) => env.DB.batch(statements))).toMatchObject({ ok: true, created: true });
  });

  it("whose answer was lost has stored it once", async () => {
    const before = await countRows();
    const answerless = async (statements: D1PreparedStatement[]) => {
      await env.DB.batch(statements);
      throw new Error("gone");
    };
    expect(await store(answerless)).toMatchObject({ ok: true, created: false, run: { at: AT } });
    expect(await countRows()).toEqual(before);
  });
});

describe("raw samples", () => {
  it("are kept compressed, and given as JSON to any client", async () => {
    const values = Array.from({ length: 5_000 }, (_, i) => 1 + (i % 7) / 8);
    const { run, series } = await report({
      run: "sampled",
      measurements: [
        { ...wall, subject: "sampled", clock: "runner-wall", values },
        { ...wall, subject: "single", value: 1 },
      ],
    });
    const response = await fetchEdge("GET", `/v1/runs/${run.id}/samples`, {
      key: submitter.secret,
      headers: { "accept-encoding": "identity" },
    });
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("content-encoding")).toBeNull();
    expect(RunSamples.parse(await response.json())).toEqual({
      measurements: [
        { subject: "sampled", metric: "wallMs", unit: "ms", clock: "runner-wall", series: series[0], values },
      ],
    });
    const [object, further] = (await env.ARTIFACTS.list({ prefix: `samples/${run.id}/` })).objects;
    expect(further).toBeUndefined();
    expect(run.samplesBytes).toBe(object?.size);
    expect(run.samplesBytes).toBeLessThan(values.length);
    const stored = await env.ARTIFACTS.get(object?.key ?? "");
    expect(new Uint8Array((await stored?.arrayBuffer()) ?? []).slice(0, 2)).toEqual(new Uint8Array([0x1f, 0x8b]));
  });

  it("are not there where none came, nor a trace", async () => {
    const { run } = await report({ measurements: [{ ...wall, subject: "bare", value: 1 }] });
    for (const path of ["samples", "trace"]) {
      expect(problemOf(await callEdge("GET", `/v1/runs/${run.id}/${path}`)).code).toBe("not-found");
    }
  });
});

describe("a report that is wrong", () => {
  const measured = { ...wall, subject: "wrong", value: 1 };
  const aggregate = { count: 2, min: 1, max: 3, sum: 4 };
  const { sketch } = summarise([1, 2, 3]);
  const long = (length: number) => "x".repeat(length + 1);
  const entries = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`e${i}`, i]));
  const dayAhead = () => new Date(Date.now() + LIMITS.reportAheadMs + 60_000).toISOString();
  const inMeasurement = (changes: object) => ({ measurements: [measured, { ...measured, ...changes }] });

  it.each<[string, () => object, string]>([
    ["measures nothing", () => ({ measurements: [] }), "#/measurements"],
    ["lies before 2000", () => ({ at: "1999-12-31T23:59:59Z", measurements: [measured] }), "#/at"],
    ["lies in the future", () => ({ at: dayAhead(), measurements: [measured] }), "#/at"],
    ["is not in UTC", () => ({ at: "2026-11-21T09:30:00+02:00", measurements: [measured] }), "#/at"],
    ["has a long name", () => ({ run: long(LIMITS.runNameLength), measurements: [measured] }), "#/run"],
    ["has a long label", () => ({ label: long(LIMITS.nameLength), measurements: [measured] }), "#/label"],
    ["has a long revision", () => ({ revision: long(LIMITS.revisionLength), measurements: [measured] }), "#/revision"],
    ["has a measurement in the future", () => inMeasurement({ at: dayAhead() }), "#/measurements/1/at"],
    ["has a measurement before 2000", () => inMeasurement({ at: "1970-01-01T00:00:00Z" }), "#/measurements/1/at"],
    [
      "has a text among its values",
      () => inMeasurement({ value: undefined, values: [1, "2"] }),
      "#/measurements/1/values/1",
    ],
    [
      "has a value that is too large",
      () => inMeasurement({ value: undefined, values: [1e101] }),
      "#/measurements/1/values/0",
    ],
    ["has values that are none", () => inMeasurement({ value: undefined, values: null }), "#/measurements/1/values"],
    ["has values and a value", () => inMeasurement({ values: [1] }), "#/measurements/1"],
    ["has neither", () => inMeasurement({ value: undefined }), "#/measurements/1"],
    ["has no values", () => inMeasurement({ value: undefined, values: [] }), "#/measurements/1/values"],
    [
      "has a magnitude that no sum bears",
      () => inMeasurement({ value: 2 * LIMITS.reportedMagnitude }),
      "#/measurements/1/value",
    ],
    [
      "has an extreme without its values",
      () => inMeasurement({ value: undefined, aggregate: { ...aggregate, max: 0 } }),
      "#/measurements/1/aggregate/max",
    ],
    [
      "has a mean that is none",
      () => inMeasurement({ value: undefined, aggregate: { ...aggregate, sum: 7 } }),
      "#/measurements/1/aggregate/sum",
    ],
    [
      "counts too much",
      () => inMeasurement({ value: undefined, aggregate: { ...aggregate, count: LIMITS.reportedCount + 1 } }),
      "#/measurements/1/aggregate/count",
    ],
    [
      "has a sketch of other values",
      () => inMeasurement({ value: undefined, aggregate: { ...aggregate, sketch } }),
      "#/measurements/1/aggregate/sketch",
    ],
    [
      "has a sketch that is none",
      () => inMeasurement({ value: undefined, aggregate: { ...aggregate, sketch: "!" } }),
      "#/measurements/1/aggregate/sketch",
    ],
    [
      "has a sketch that is too long",
      () => inMeasurement({ value: undefined, aggregate: { ...aggregate, sketch: long(LIMITS.reportedSketchLength) } }),
      "#/measurements/1/aggregate/sketch",
    ],
    [
      "has percentiles that fall",
      () => inMeasurement({ value: undefined, aggregate: { ...aggregate, percentiles: { p9: 2, p50: 1 } } }),
      "#/measurements/1/aggregate/percentiles",
    ],
    [
      "has much configuration",
      () => inMeasurement({ configuration: entries(LIMITS.configurationEntries + 1) }),
      "#/measurements/1/configuration",
    ],
    [
      "has long configuration",
      () => inMeasurement({ configuration: { e: long(LIMITS.configurationLength) } }),
      "#/measurements/1/configuration/e",
    ],
    [
      "has too many measurements",
      () => ({ measurements: Array.from({ length: LIMITS.reportMeasurements + 1 }, () => measured) }),
      "#/measurements",
    ],
    [
      "has too many samples in one",
      () => inMeasurement({ value: undefined, values: Array.from({ length: LIMITS.reportedSamples + 1 }, () => 1) }),
      "#/measurements/1/values",
    ],
    [
      "has too many samples in all",
      () => {
        const { value: _, ...rest } = measured;
        const values = Array.from({ length: LIMITS.reportedSamples }, () => 1);
        return { measurements: Array.from({ length: 5 }, () => ({ ...rest, values })) };
      },
      "#/measurements",
    ],
  ])("because it %s is refused, and nothing is stored", async (_, body, pointer) => {
    const before = await countStored();
    const reply = await send(body());
    expect(problemOf(reply).code).toBe("invalid-request");
    expect(pointersOf(reply)).toContain(pointer);
    expect(await countStored()).toEqual(before);
  });

  it.each(["1e999", "-1e999", "NaN"])("because it has the number %s is refused", async (text) => {
    const body = JSON.stringify({ measurements: [{ ...wall, value: 17 }] }).replace("17", text);
    const reply = await send(body, "", { headers: { "content-type": "application/json" } });
    expect(problemOf(reply).code).toBe("invalid-request");
  });

  it("because its body is larger than the limit is refused, and one within is not", async () => {
    const padded = (sizeBytes: number) => JSON.stringify({ measurements: [measured] }).padEnd(sizeBytes);
    const headers = { "content-type": "application/json" };
    expect(problemOf(await send(padded(LIMITS.reportBodyBytes + 1), "", { headers })).code).toBe("payload-too-large");
    expect((await send(padded(LIMITS.reportBodyBytes), "", { headers })).status).toBe(201);
  });

  it("may be as large as every limit says", async () => {
    const { value: _, ...rest } = measured;
    const shares = LIMITS.reportedSamplesInAll / LIMITS.reportedSamples;
    const values = Array.from({ length: LIMITS.reportedSamples }, () => 1.5);
    const { run } = await report({
      measurements: Array.from({ length: LIMITS.reportMeasurements }, (__, i) => ({
        ...(i < shares ? { ...rest, values } : measured),
        configuration: { i },
      })),
    });
    expect(run.points).toBe(LIMITS.reportMeasurements);
    const count = env.DB.prepare("select count(*) as n from points where run_id = ?").bind(run.id);
    expect(await count.first("n")).toBe(LIMITS.reportMeasurements);
  });
});

describe("a tool's output", () => {
  const hyperfine = { results: [{ command: "sleep 0.1", mean: 0.1, times: [0.1, 0.2], parameters: { n: "1" } }] };

  it("is a report, with what the query says of it", async () => {
    const query =
      "?format=hyperfine&run=nightly&label=main&revision=0123abc&subject=shell&cpu=Sample&configuration=os=linux";
    const { run, series } = await report(hyperfine, `${query}&at=${AT}`);
    expect(run).toMatchObject({ tool: "hyperfine", name: "nightly", label: "main", revision: "0123abc", at: AT });
    const found = (await callEdge("GET", `/v1/history/series?series=${series[0]}`)).json.items[0];
    expect(found).toMatchObject({
      subject: "shell/sleep 0.1",
      configuration: { n: "1", os: "linux" },
      fingerprint: { cpu: "Sample" },
    });
    expect(await readPoints(series[0])).toEqual([expect.objectContaining({ count: 2, min: 100, max: 200 })]);
    expect((await send(hyperfine, `${query}&at=${AT}`)).status).toBe(200);
  });

  it("and our own form are refused as they stand, whatever the query adds to them", async () => {
    const query = `?subject=x&cpu=x&configuration=os=linux`;
    const measured = { ...wall, value: 1 };
    for (const [body, pointer] of [
      [[], "#"],
      [{ measurements: "none" }, "#/measurements"],
      [{ measurements: [null] }, "#/measurements/0"],
      [{ measurements: [{ ...measured, subject: {} }] }, "#/measurements/0/subject"],
      [{ measurements: [{ ...measured, configuration: [] }] }, "#/measurements/0/configuration"],
      [{ measurements: [measured], host: null }, "#/host"],
    ] as const) {
      expect(pointersOf(await send(body, query))).toEqual([pointer]);
    }
  });

  it("may be lines of JSON", async () => {
    const line = (id: string) =>
      JSON.stringify({ reason: "benchmark-complete", id, iteration_count: [2], measured_values: [4e6], unit: "ns" });
    const reply = await send(`${line("a")}\n\n${line("b")}\n`, "?format=criterion", {
      headers: { "content-type": "application/x-ndjson" },
    });
    expect(reply.status).toBe(201);
    expect(reply.json.points).toBe(2);
    expect(await readPoints(reply.json.series[1])).toEqual([expect.objectContaining({ count: 1, min: 2 })]);
  });

  it("that cannot be taken is refused by its own places", async () => {
    const before = await countStored();
    const long = { results: [hyperfine.results[0], { ...hyperfine.results[0], command: "x".repeat(300) }] };
    expect(pointersOf(await send(long, "?format=hyperfine"))).toEqual(["#/results/1/times"]);
    expect(pointersOf(await send({ results: [] }, "?format=hyperfine"))).toEqual(["#"]);
    expect(pointersOf(await send(hyperfine, "?format=mitata"))).toEqual(["#/benchmarks"]);
    expect(pointersOf(await send(hyperfine, `?format=hyperfine&subject=${"x".repeat(250)}`))).toEqual([
      "#/results/0/times",
    ]);
    expect(await countStored()).toEqual(before);
  });
});
