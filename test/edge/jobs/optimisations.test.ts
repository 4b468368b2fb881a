import { beforeAll, describe, expect, it } from "vitest";
import type { z } from "zod";
import { storeResult } from "../../../src/edge/kinds/store-result.ts";
import type { Job } from "../../../src/protocol/jobs/job.ts";
import type { Placement } from "../../../src/protocol/models/model.ts";
import type { OptimisationResult, OptimisationSpec } from "../../../src/protocol/jobs/optimisation.ts";
import { createProblem } from "../../../src/protocol/wire/problem.ts";
import { DEFAULT_CONFIGURATION } from "../../../src/protocol/fleet/serving.ts";
import {
  callEdge,
  countStored,
  mainEnv,
  pointersOf,
  type RegisteredRunner,
  registerRunner,
} from "../stack/edge-client.ts";
import { answerOptimisation } from "../stack/job-answers.ts";
import { calibrationResult } from "../stack/samples.ts";
import { ScriptedRunner } from "../stack/scripted-runner.ts";
import { cartpole } from "../stack/zoo.ts";

const model = { kind: "model", model: "cartpole" };
const kernel = { kind: "kernel", kernel: "triad" };
const optimisation = { kind: "optimisation", subject: model, targets: { latencyMs: 10 } };
const submit = (changes: object = {}) => callEdge("POST", "/v1/jobs", { body: { ...optimisation, ...changes } });
const readPlacement = async (): Promise<z.infer<typeof Placement>> =>
  (await callEdge("GET", "/v1/models/cartpole/placements")).json.items[0];

let runner: RegisteredRunner;
let scripted: ScriptedRunner;
let versionId = "";

beforeAll(async () => {
  runner = await registerRunner();
  scripted = await ScriptedRunner.online(runner);
  const uploaded = await callEdge("POST", "/v1/models?name=cartpole", {
    body: cartpole,
    headers: { "content-type": "application/octet-stream" },
  });
  versionId = uploaded.json.version.id;
  const offer = await scripted.next("offer");
  scripted.succeed(offer, calibrationResult(versionId));
  await scripted.next("jobSettled");
});

/** Submits a job and returns its spec as offered; the runner gives it up. */
async function specOf(changes: object): Promise<OptimisationSpec> {
  expect((await submit(changes)).status).toBe(202);
  const { lease, spec } = await scripted.next("offer");
  const problem = createProblem("cancelled", "Only the spec was wanted.");
  scripted.send({ type: "jobOutcome", lease, outcome: { ok: false, problem } });
  await scripted.next("jobSettled");
  return spec as OptimisationSpec;
}

describe("an optimisation that is submitted", () => {
  it("is filled in with its version and how that is served now", async () => {
    const placement = await readPlacement();
    expect(await specOf({})).toMatchObject({
      runnerId: runner.runnerId,
      modelVersionId: versionId,
      standing: {
        placementId: placement.id,
        deviceKey: "cpu",
        backend: "ort-cpu",
        variant: "fp32",
        configuration: DEFAULT_CONFIGURATION,
      },
      fidelities: {},
      objective: "throughput",
      targets: { latencyMs: 10, percentile: 0.99, minFidelity: 0 },
      space: {},
      budgetMs: 60_000,
      apply: false,
    });
  });

  it("takes from its profile the targets that were not named, and a space without what its settings exclude", async () => {
    const small = await specOf({ profile: "memory-constrained", targets: { throughputPerS: 50 } });
    expect(small.targets).toEqual({
      latencyMs: 15,
      percentile: 0.5,
      throughputPerS: 50,
      memoryBytes: 8 * 2 ** 30,
      minFidelity: 0,
    });
    // No variant is named after its precision: that narrows nothing.
    expect(small.space).toEqual({ backends: ["ort-cpu", "wgsl"], maxRows: [1, 2, 4, 8] });
    const named = await specOf({ profile: "memory-constrained", space: { maxRows: [4, 16], backends: ["ort-cpu"] } });
    expect(named.space).toEqual({ backends: ["ort-cpu"], maxRows: [4] });
    expect((await specOf({ targets: undefined, objective: "latency" })).objective).toBe("latency");
  });

  it("names what is not there, is no target or leaves nothing, and queues nothing", async () => {
    const before = await countStored();
    const cases: [object, string[]][] = [
      [{ subject: { ...model, model: "nobody" } }, ["#/subject/model"]],
      [{ subject: { ...model, variant: "int4" } }, ["#/subject/variant"]],
      [{ targets: undefined }, ["#/targets"]],
      [{ targets: {} }, ["#/targets"]],
      [{ targets: { percentile: 0.5 } }, ["#/targets"]],
      [{ targets: { latencyMs: -1 } }, ["#/targets/latencyMs"]],
      [{ targets: { latency: 1 } }, ["#/targets/latency"]],
      [{ space: { deviceKeys: ["tpu0"] } }, ["#/space/deviceKeys/0"]],
      [{ space: { variants: ["fp32", "int4"] } }, ["#/space/variants/1"]],
      [{ space: { backends: ["edge-wasm"] } }, ["#/space/backends/0"]],
      [{ space: { threads: [1, 8] } }, ["#/space/threads/1"]],
      [{ space: { maxRows: [512] } }, ["#/space/maxRows/0"]],
      [{ space: { concurrency: [1_000] } }, ["#/space/concurrency/0"]],
      [{ profile: "memory-constrained", space: { maxRows: [16] } }, ["#/space/maxRows"]],
      [{ profile: "memory-constrained", targets: { minFidelity: 1 }, space: { maxRows: [16] } }, ["#/space/maxRows"]],
      [{ subject: kernel, targets: { memoryBytes: 1 } }, ["#/targets/memoryBytes"]],
      [{ subject: kernel, targets: { minFidelity: 0.5 }, objective: "latency" }, ["#/targets/minFidelity"]],
      [{ subject: kernel, apply: true }, ["#/apply"]],
      [{ subject: kernel, space: { threads: [1] } }, ["#/space/threads"]],
      [{ subject: { ...kernel, shape: { nobody: 1 } } }, ["#/subject/shape/nobody"]],
      [{ maxTrials: 0 }, ["#/maxTrials"]],
      [{ budgetMs: 10 }, ["#/budgetMs"]],
    ];
    for (const [changes, pointers] of cases) {
      expect([changes, pointersOf(await submit(changes))]).toEqual([changes, pointers]);
    }
    expect(await countStored()).toEqual(before);
  });

  it("of a kernel wants no placement", async () => {
    const spec = await specOf({ subject: kernel, profile: "memory-constrained", targets: undefined });
    expect(spec).toMatchObject({ subject: kernel, targets: { latencyMs: 15, throughputPerS: 500 } });
    expect(spec.targets.memoryBytes).toBeUndefined();
    expect(spec.standing).toBeUndefined();
  });
});

/** Runs a job on the scripted runner, and returns its end. */
async function run(changes: object, answer: (spec: OptimisationSpec) => OptimisationResult): Promise<Job> {
  const { json } = await submit(changes);
  const offer = await scripted.next("offer");
  if (offer.spec.kind !== "optimisation") throw new Error(`a ${offer.spec.kind} was offered`);
  scripted.succeed(offer, answer(offer.spec));
  await scripted.next("jobSettled");
  return (await callEdge("GET", `/v1/jobs/${json.id}`)).json;
}

describe("an optimisation that ended", () => {
  it("makes the applied candidate the placement's configuration, and sends it to its runner", async () => {
    const requirement = { metric: "latencyMs", percentile: 0.99, atMost: 10 } as const;
    const verdict = {
      requirement,
      path: "runner",
      outcome: "pass",
      measured: 8,
      low: 7,
      high: 9,
      margin: 0.2,
    } as const;
    const job = await run({ label: "applied", apply: true }, (spec) => {
      const { applied, ...result } = answerOptimisation(spec);
      // A requirement that names no scenario has a verdict for each.
      const verdicts = (["singleStream", "server"] as const).map((scenario) => ({ ...verdict, scenario, detail: "" }));
      return { ...result, applied: { ...applied!, after: { ...applied!.after!, verdicts } } };
    });
    expect(job).toMatchObject({ state: "succeeded", result: { best: 1 } });
    const configure = await scripted.next("configure");
    const configuration = { threads: 2, maxRows: 8, maxInFlight: null };
    expect(configure.placed).toMatchObject([{ modelVersionId: versionId, places: [{ configuration }] }]);
    const validated = { runId: job.runId, verdict: "pass", requirements: [requirement] };
    expect(await readPlacement()).toMatchObject({ configuration, validated });
    const { items } = (await callEdge("GET", "/v1/history/series?label=applied")).json;
    expect(items.map(({ metric }: { metric: string }) => metric).toSorted()).toEqual(["optimisedMs", "optimisedPerS"]);
    expect(items[0]).toMatchObject({ subject: "cartpole@1", configuration: { objective: "throughput", boundMs: 10 } });
  });

  it("changes nothing when it is stored twice, nor where the placement was configured meanwhile", async () => {
    const spec = await specOf({});
    const input = {
      jobId: `job_${"1".repeat(26)}`,
      attempt: 1,
      runnerId: runner.runnerId,
      deviceKey: "cpu",
      spec,
      startedAtMs: 1,
      endedAtMs: 2,
    };
    const found = answerOptimisation(spec, { threads: 4, maxRows: 2, maxInFlight: null });
    await storeResult(mainEnv, { ...input, result: found });
    const stored = await readPlacement();
    expect(stored.configuration).toEqual({ threads: 4, maxRows: 2, maxInFlight: null });
    await storeResult(mainEnv, { ...input, result: found });
    expect(await readPlacement()).toEqual(stored);
    const late = { ...input, jobId: `job_${"2".repeat(26)}`, result: answerOptimisation(spec) };
    await storeResult(mainEnv, late);
    expect(await readPlacement()).toEqual(stored);
  });

  it("leaves a placement alone where nothing was applied", async () => {
    const before = await readPlacement();
    const refused = await run({ apply: true }, (spec) => {
      const result = answerOptimisation(spec);
      return { ...result, applied: { ...result.applied!, applied: false, placement: null } };
    });
    expect(refused.state).toBe("succeeded");
    expect(await readPlacement()).toEqual(before);
  });

  it("that points beyond its trials, or is about another version, fails its job", async () => {
    const beyond = await run({}, (spec) => ({ ...answerOptimisation(spec), best: 2 }));
    expect(beyond.state).toBe("failed");
    const strange = await run({}, (spec) => ({
      ...answerOptimisation(spec),
      modelVersionId: `ver_${"0".repeat(26)}`,
    }));
    expect(strange.state).toBe("failed");
  });
});
