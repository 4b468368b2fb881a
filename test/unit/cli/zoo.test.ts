import { describe, expect, it } from "vitest";
import { askChoice } from "../../../src/cli/zoo/place-zoo.ts";
import { averageZoo, describeChoices, renderZoo, type ZooRow } from "../../../src/cli/zoo/zoo-rows.ts";
import { createClient } from "../../../src/client/client.ts";

const row = (change: Partial<ZooRow>): ZooRow => ({
  category: "vision",
  model: "lenet5",
  parameters: 61_706,
  runner: "local",
  deviceKey: "cpu",
  backend: "ort-cpu",
  software: false,
  chosen: true,
  p50Ms: 1,
  p95Ms: 2,
  p99Ms: 3,
  samplesPerS: 1_000,
  memoryBytes: 3 * 2 ** 20,
  startupMs: 5,
  runId: "run_1",
  ...change,
});
const rows = [
  row({}),
  row({
    backend: "ort-webgpu",
    deviceKey: "gpu0",
    software: true,
    chosen: false,
    p50Ms: 9,
    samplesPerS: 10,
    memoryBytes: null,
  }),
  row({ model: "glyph62", p50Ms: 3, p95Ms: 4, p99Ms: 5, samplesPerS: 500 }),
  row({ category: "sensor", model: "fusion", p50Ms: 8, p95Ms: 9, p99Ms: 10, samplesPerS: 300 }),
];

describe("the means of a zoo", () => {
  it("take each network on the backend that is fastest for it", () => {
    expect(averageZoo(rows)).toEqual([
      { mean: "vision", models: 2, p50Ms: 2, p95Ms: 3, p99Ms: 4, samplesPerS: 750 },
      { mean: "sensor", models: 1, p50Ms: 8, p95Ms: 9, p99Ms: 10, samplesPerS: 300 },
      { mean: "all", models: 3, p50Ms: 4, p95Ms: 5, p99Ms: 6, samplesPerS: 600 },
    ]);
  });

  it("are none where nothing was measured", () => {
    expect(averageZoo([])).toEqual([]);
  });
});

describe("the edge's choices", () => {
  it("are told where they are far from the fastest", () => {
    const cuda = { backend: "ort-cuda", deviceKey: "cuda0", chosen: false } as const;
    expect(describeChoices([row({}), row({ ...cuda, p50Ms: 0.96 })])).toHaveLength(1);
    expect(describeChoices([row({}), row({ ...cuda, p50Ms: 0.5 }), row({ model: "glyph62" })])).toEqual([
      "The edge's choice is within 5 % of the fastest for 1 of 2 networks.\n",
      "lenet5: the edge chose ort-cpu, 2.00 times ort-cuda\n",
    ]);
    expect(describeChoices([row(cuda)])).toEqual([]);
  });
});

describe("the table of a zoo", () => {
  it("has a line for each network and backend, then the means, then what went wrong", () => {
    const failure = { category: "audio", model: "pitch", backend: "ort-webgpu", reason: "it does not run" } as const;
    expect(renderZoo(rows, averageZoo(rows).slice(-1), [failure])).toBe(
      [
        "category  model      parameters  backend                p50 ms  p95 ms  p99 ms  rows/s   memory",
        "vision    lenet5         61,706  ort-cpu                 1.000   2.000   3.000   1,000  3.0 MiB",
        "vision    lenet5         61,706  ort-webgpu (software)   9.000   2.000   3.000      10        –",
        "vision    glyph62        61,706  ort-cpu                 3.000   4.000   5.000     500  3.0 MiB",
        "sensor    fusion         61,706  ort-cpu                 8.000   9.000  10.000     300  3.0 MiB",
        "all       mean of 3              fastest of each         4.000   5.000   6.000     600",
        "The edge's choice is within 5 % of the fastest for 3 of 3 networks.",
        "pitch by ort-webgpu was not measured: it does not run",
        "",
      ].join("\n"),
    );
  });
});

it("the edge's choice is null where it does not answer", async () => {
  const refused = async () =>
    Response.json({ code: "overloaded", title: "Overloaded", status: 503, type: "about:blank" }, { status: 503 });
  const client = createClient({ baseUrl: "http://edge", fetch: refused });
  expect(await askChoice(client, { name: "lenet5", version: 1, inputs: [] }, "runner_1")).toBeNull();
});
