import { beforeAll, describe, expect, it } from "vitest";
import { openProject } from "../../../src/edge/store/database.ts";
import { addModelVersion } from "../../../src/edge/store/models/model-store.ts";
import { listPlacementsOfVersions, savePlacement } from "../../../src/edge/store/fleet/placement-store.ts";
import { recordHello } from "../../../src/edge/store/fleet/runner-store.ts";
import { recordRun } from "../../../src/edge/store/history/run-store.ts";
import { SAFE_MEMORY_SHARE } from "../../../src/edge/models/sweep/analyse-sweep.ts";
import { addVariant } from "../../../src/edge/store/models/version-store.ts";
import { createId } from "../../../src/protocol/wire/id.ts";
import { type JobResult, JobSpec } from "../../../src/protocol/jobs/job.ts";
import type { Placement } from "../../../src/protocol/models/model.ts";
import { PlacementSweep, Trade } from "../../../src/protocol/models/trade-offs.ts";
import { callEdge, createKey, fetchEdge, mainEnv, missingId, problemOf, registerRunner } from "../stack/edge-client.ts";
import { benchmarkResult, calibrationResult, capabilities, distribution } from "../stack/samples.ts";
import { optimisationResult, validationResult } from "../stack/validation-samples.ts";

let reader: string;
let runnerId: string;

beforeAll(async () => {
  reader = (await createKey(["read"])).secret;
  ({ runnerId } = await registerRunner());
});

const get = (path: string) => fetchEdge("GET", path, { key: reader });

/** A run of a job with this result, as it is stored when the job ends. */
async function storeRun(result: JobResult): Promise<string> {
  const input = { jobId: createId("job"), attempt: 1, runnerId, deviceKey: "cpu", startedAtMs: 1, endedAtMs: 2 };
  const subject = { kind: "model", model: "lenet5" };
  const scenarios = [{ kind: "offline" }];
  const spec = JobSpec.parse({
    kind: result.kind,
    subject,
    scenarios,
    requirements: [],
    targets: {},
    objective: "throughput",
    space: {},
    kernel: "triad",
  });
  return (await recordRun(openProject(mainEnv), { ...input, spec, result })).id;
}

/** A version with a variant, both placed on the runner's CPU, as a calibration leaves them. */
async function placeModel(name: string): Promise<Placement[]> {
  const db = openProject(mainEnv);
  const file = {
    name,
    digest: `sha256:${"1".repeat(64)}`,
    sizeBytes: 4_000,
    inputs: [],
    outputs: [],
    edgeParameters: null,
  };
  const { version } = (await addModelVersion(db, file))!;
  const variant = {
    modelVersionId: version.id,
    name: "int8",
    digest: `sha256:${"2".repeat(64)}`,
    sizeBytes: 1_000,
    fidelity: 0.97,
  };
  await addVariant(db, variant);
  const result = calibrationResult(version.id);
  for (const [index, of] of ["fp32", "int8"].entries()) {
    const sweep = [1, 2, 4, 8, 16].map((rows) => ({ rows, serviceMs: distribution([(3 + rows) / (index + 1)]) }));
    const memory = { baseBytes: 1_000, bytesPerRow: 100 };
    await savePlacement(db, runnerId, result, { ...result.placements[0]!, variant: of, sweep, memory });
  }
  return listPlacementsOfVersions(db, [version.id]);
}

describe("the plot of a run", () => {
  it("is an SVG that may do nothing, in the theme and width that are asked for", async () => {
    const id = await storeRun(validationResult());
    const reply = await get(`/v1/runs/${id}/plots/curve.svg?theme=dark&width=400`);
    expect(reply.status).toBe(200);
    expect(reply.headers.get("content-type")).toBe("image/svg+xml; charset=utf-8");
    expect(reply.headers.get("content-security-policy")).toBe("default-src 'none'; style-src 'unsafe-inline'");
    expect(reply.headers.get("x-content-type-options")).toBe("nosniff");
    const svg = await reply.text();
    expect(svg).toMatch(/^<svg [^>]*width="400"/);
    expect(svg).toContain("lenet5: p99 by rate, through the edge");
    expect(svg).not.toContain("<style");
    expect(await (await get(`/v1/runs/${id}/plots/curve.svg`)).text()).toContain("prefers-color-scheme:dark");
  });

  it("is not sent again to who has it", async () => {
    const id = await storeRun(optimisationResult());
    const path = `/v1/runs/${id}/plots/front.svg`;
    const etag = (await get(path)).headers.get("etag") ?? "";
    const again = await fetchEdge("GET", path, { key: reader, headers: { "if-none-match": etag } });
    expect(again.status).toBe(304);
    expect(await again.text()).toBe("");
    const other = await fetchEdge("GET", `${path}?theme=dark`, { key: reader, headers: { "if-none-match": etag } });
    expect(other.status).toBe(200);
    await other.text();
  });

  it("is of the scenario that is asked for", async () => {
    const id = await storeRun(validationResult());
    const path = `/v1/runs/${id}/plots/curve.svg`;
    expect(await (await get(`${path}?scenario=1`)).text()).toContain("through the edge");
    for (const [query, reason] of [
      ["?scenario=0", "its scenario 0 is singleStream, not server"],
      ["?scenario=2", "it has 2 scenarios"],
    ] as const) {
      const problem = problemOf(await callEdge("GET", path + query, { key: reader }));
      expect(problem).toMatchObject({ code: "not-found", detail: `The run ${id} has no curve: ${reason}.` });
      expect(problem.errors).toEqual([{ pointer: "query/scenario", message: "has no curve" }]);
    }
  });

  it("is not there for a run that has none, and says why", async () => {
    const validation = validationResult();
    const [benchmark, alone, failed] = [
      await storeRun(benchmarkResult()),
      await storeRun({ ...validation, scenarios: validation.scenarios.slice(0, 1) }),
      await storeRun(optimisationResult({ trials: optimisationResult().trials.slice(-1), best: null, pareto: [] })),
    ];
    for (const [path, reason] of [
      [`${benchmark}/plots/curve.svg`, "it is a benchmark, not a validation"],
      [`${benchmark}/plots/front.svg`, "it is a benchmark, not an optimisation"],
      [`${alone}/plots/curve.svg`, "it has no server scenario"],
      [`${failed}/plots/front.svg`, "none of its trials was measured"],
    ] as const) {
      const problem = problemOf(await callEdge("GET", `/v1/runs/${path}`, { key: reader }));
      expect(problem.code).toBe("not-found");
      expect(problem.detail).toContain(reason);
    }
  });
});

describe("the sweep of a placement", () => {
  it("names knee, memory, the largest safe batch of the machine, and the recommendation", async () => {
    await recordHello(openProject(mainEnv), runnerId, capabilities);
    const [placement] = await placeModel("swept");
    const { json } = await callEdge("GET", `/v1/placements/${placement?.id}/sweep`, { key: reader });
    expect(PlacementSweep.parse(json)).toMatchObject({
      model: "swept",
      version: 1,
      variant: "fp32",
      knee: 4,
      safe: {
        budgetBytes: capabilities.hardware.memoryBytes * SAFE_MEMORY_SHARE,
        of: "host",
        share: SAFE_MEMORY_SHARE,
        rows: 256,
        measured: false,
      },
      recommended: { rows: 4, because: "knee" },
    });
    expect(json.steps[0]).toEqual({ rows: 1, p50Ms: 4, p99Ms: 4, rowsPerS: 250, memoryBytes: 1_100 });
  });

  it("keeps to the memory and the latency that are asked for", async () => {
    const [placement] = await placeModel("bounded");
    const path = `/v1/placements/${placement?.id}/sweep`;
    const ask = async (query: string) => (await callEdge("GET", `${path}?${query}`, { key: reader })).json;
    expect(await ask("latencyMs=11&memoryBytes=1500")).toMatchObject({
      safe: { budgetBytes: 1_500, of: "asked", share: null, rows: 5, measured: true },
      recommended: { rows: 4, because: "latency" },
    });
    expect((await ask("latencyMs=11")).recommended.rows).toBe(8);
    expect((await ask("memoryBytes=1000")).recommended).toMatchObject({ rows: null, because: "nothing-fits" });
  });

  it("is plotted with what was asked for", async () => {
    const [placement] = await placeModel("plotted");
    const svg = await (
      await get(`/v1/placements/${placement?.id}/plots/sweep.svg?latencyMs=11&memoryBytes=1500`)
    ).text();
    for (const text of ["knee 4", "largest safe 5", "bound 11 ms"]) expect(svg).toContain(`>${text}</text>`);
  });

  it("is not there without the placement", async () => {
    for (const path of ["sweep", "plots/sweep.svg"]) {
      const problem = problemOf(
        await callEdge("GET", `/v1/placements/${missingId.placement}/${path}`, { key: reader }),
      );
      expect(problem.code).toBe("not-found");
    }
  });
});

describe("the trade of a model", () => {
  it("sets each variant beside the first, as JSON and as rows", async () => {
    await placeModel("traded");
    const { json } = await callEdge("GET", "/v1/models/traded/trade", { key: reader });
    const trade = Trade.parse(json);
    expect(trade).toMatchObject({ model: "traded", version: 1 });
    expect(
      trade.items.map(({ variant, latencyGain, sizeBytes, fidelity, front }) => [
        variant,
        latencyGain,
        sizeBytes,
        fidelity,
        front,
      ]),
    ).toEqual([
      ["fp32", 1, 4_000, 1, true],
      ["int8", 2, 1_000, 0.97, true],
    ]);
    const rows = (await (await get("/v1/models/traded/trade?format=csv")).text()).trim().split(/\r?\n/);
    expect(rows.length).toBe(3);
    expect(rows[0]).toMatch(/^model,version,placementId,variant,/);
  });

  it("is of the latest version that is placed, or of the one that is named", async () => {
    await placeModel("versions");
    const file = {
      name: "versions",
      digest: `sha256:${"3".repeat(64)}`,
      sizeBytes: 1,
      inputs: [],
      outputs: [],
      edgeParameters: null,
    };
    await addModelVersion(openProject(mainEnv), file);
    const ask = (query: string) => callEdge("GET", `/v1/models/versions/trade${query}`, { key: reader });
    expect((await ask("")).json).toMatchObject({ version: 1 });
    expect((await ask("?version=2")).json).toEqual({ model: "versions", version: 2, items: [] });
    expect(problemOf(await ask("?version=3")).detail).toBe("The model versions has no version 3.");
  });

  it("is plotted with its front, and not where nothing is placed", async () => {
    await placeModel("drawn");
    const svg = await (await get("/v1/models/drawn/plots/trade.svg")).text();
    for (const text of ["drawn@1: latency against fidelity", "fidelity lost, %", "on the front"])
      expect(svg).toContain(`>${text}</text>`);
    expect(svg).toContain("int8 on cpu by ort-cpu: 2 ms, fidelity 0.97");
    expect(svg).not.toContain("beaten");
    const file = { name: "nowhere", digest: `sha256:${"4".repeat(64)}`, sizeBytes: 1, inputs: [], outputs: [] };
    await addModelVersion(openProject(mainEnv), { ...file, edgeParameters: null });
    const problem = async (path: string) => problemOf(await callEdge("GET", `/v1/models/${path}`, { key: reader }));
    expect(await problem("nowhere/plots/trade.svg")).toMatchObject({
      code: "not-found",
      detail: "Of nowhere@1 no placement is eligible.",
    });
    expect((await problem("drawn/plots/trade.svg?version=2")).errors).toEqual([
      { pointer: "query/version", message: "is not a version of the model" },
    ]);
  });
});
