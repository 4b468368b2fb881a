import { PLAIN } from "../../../src/protocol/models/network-layout.ts";
import { describe, expect, it } from "vitest";
import { renderJob, renderResult } from "../../../src/cli/jobs/render-job.ts";
import type { ConsensusResult } from "../../../src/protocol/jobs/consensus.ts";
import type { EvaluationResult } from "../../../src/protocol/jobs/evaluation/evaluation.ts";
import type { EvolutionResult } from "../../../src/protocol/jobs/evolution.ts";
import type { JobArtifact } from "../../../src/protocol/jobs/job-artifact.ts";
import { type Job, JobKind, type JobResult, JobSpec } from "../../../src/protocol/jobs/job.ts";
import type { ProbeResult } from "../../../src/protocol/jobs/probe.ts";
import type { TuningResult } from "../../../src/protocol/jobs/tuning.ts";
import { createId } from "../../../src/protocol/wire/id.ts";
import { createProblem } from "../../../src/protocol/wire/problem.ts";
import { summarise } from "../../../src/stats/distribution/distribution.ts";
import { NO_NAMES } from "../../../src/words/jobs.ts";
import { describeResult, describeSpec, listResultLinks, nameSpec } from "../../../src/words/kinds/registry.ts";
import { compressionResult } from "../../edge/stack/compression-samples.ts";
import { benchmarkResult, calibrationResult, throughputResult, tuningResult } from "../../edge/stack/samples.ts";
import { trainingResult } from "../../edge/stack/training-samples.ts";
import { infeasibleResult, optimisationResult, validationResult } from "../../edge/stack/validation-samples.ts";

const modelVersionId = createId("modelVersion");
const digest = `sha256:${"0".repeat(64)}`;
const { environment } = benchmarkResult();
const file: JobArtifact = { name: "population", digest, sizeBytes: 2_048, mediaType: "application/octet-stream" };
const place = { tier: "host", freeShare: 0.5 } as const;
const estimate = (value: number) => ({ value, low: value - 1, high: value + 1 });
const subject = { kind: "model", model: "lenet5" };
const pool = {
  name: "herd",
  digest,
  agents: 4,
  stateSize: 4,
  residency: "host",
  minFreeGpu: 0.1,
  minFreeHost: 0.1,
  generation: 3,
  version: 2,
};

const evaluation: EvaluationResult = {
  kind: "evaluation",
  task: { name: "balance", digest: null },
  episodes: 20,
  seed: 1,
  commonRandom: true,
  entrants: [
    {
      name: "pole@1",
      modelVersionId,
      members: 1,
      scores: {
        mean: estimate(472),
        median: estimate(470),
        iqm: estimate(471),
        optimalityGap: estimate(0.1),
        profile: [
          { tau: 0, ...estimate(1) },
          { tau: 1, ...estimate(0) },
        ],
        resamples: 100,
        seed: 1,
      },
      meanLength: 472,
      causes: { terminated: 15, truncated: 5, both: 0 },
      failed: [],
      failedMembers: 0,
      best: [],
    },
    {
      name: "crowd",
      modelVersionId: null,
      members: 2,
      scores: null,
      meanLength: null,
      causes: { terminated: 0, truncated: 0, both: 0 },
      failed: [{ member: 0, reason: "its return is not finite" }],
      failedMembers: 2,
      best: [],
    },
  ],
  waves: 1,
  throughput: trainingResult().throughput,
  scores: { worst: 0, best: 500, solvedAt: null },
  proof: { steps: 100, agreeing: 100, largestDifference: 0 },
  artifact: null,
  replay: null,
  environment,
};

const evolution: EvolutionResult = {
  kind: "evolution",
  pool: "herd",
  generation: 4,
  artifact: file,
  best: { agent: 2, fitness: 1.5 },
  fronts: 3,
  diversity: { before: 2, after: 1, agents: 4 },
  place,
  computeMs: 12,
  environment,
};

const consensus: ConsensusResult = {
  kind: "consensus",
  ballots: [
    { tally: [3, 1], quorum: true, leader: 0 },
    { tally: [0, 0], quorum: false, leader: null },
  ],
  conflicts: { rounds: [1], proposers: [2, 3] },
  place,
  computeMs: 12,
  environment,
};

const probe: ProbeResult = {
  kind: "probe",
  ok: false,
  claims: [{ claim: "memory", claimed: "8 GiB", found: "4 GiB", ok: false }],
  environment,
};

interface Sample {
  readonly spec: object;
  readonly result: JobResult;
  readonly name: string;
  readonly parts: string;
  /** Lines of the result, as a terminal has them. */
  readonly lines: readonly RegExp[];
}

const KINDS: Record<JobKind, Sample> = {
  benchmark: {
    spec: { kernel: "gemm", shape: { m: 64 }, label: "main" },
    result: benchmarkResult(),
    name: "gemm",
    parts: "m 64 · 100 iterations · main",
    lines: [/^ {2}submitted to done +p50 2 /m, /^ {2}ran on +\S+ /m, /^ {2}correct +\d+ elements, off by/m],
  },
  throughput: {
    spec: { kernel: "gemm" },
    result: throughputResult(),
    name: "gemm",
    parts: "default sizes · 90% busy, careful",
    lines: [
      /^ {2}setting +\d+ in flight, batches of \d+$/m,
      /^ {2}latency +p50 /m,
      /^ {2}rate +[\d.,]+ submissions\/s/m,
    ],
  },
  calibration: {
    spec: { modelVersionId },
    result: calibrationResult(modelVersionId),
    name: modelVersionId,
    parts: "300 iterations",
    lines: [/^placement +answers +fidelity/m, / +AGREE +/, /^ {2}link +p50 /m],
  },
  tuning: {
    spec: { kernel: "gemm", budgetMs: 5_000 },
    result: tuningResult(),
    name: "gemm",
    parts: "default sizes · 5.0 s budget",
    lines: [/^ {2}best +\S+ /m, /^ {2}gain +/m, /^ {2}searched +\d+ of \d+ candidates/m],
  },
  validation: {
    spec: { subject, scenarios: [{ kind: "singleStream" }], requirements: [] },
    result: validationResult(),
    name: "lenet5",
    parts: "single stream",
    lines: [
      /^latencyMs p\d+ <= [\d.]+ +(PASS|FAIL) /m,
      /^ {2}verdict +(PASS|FAIL)/m,
      /^ {2}single stream +.* samples\/s/m,
    ],
  },
  optimisation: {
    spec: { subject, objective: "latency", targets: {}, space: {} },
    result: optimisationResult(),
    name: "lenet5",
    parts: "1 min 00 s budget",
    lines: [/^configuration +standing +throughput/m, / +BEST/, /^ {2}verdict +FOUND$/m],
  },
  probe: {
    spec: { deviceKey: "gpu0" },
    result: probe,
    name: "gpu0",
    parts: "claims",
    lines: [/^memory +NOT SO +8 GiB +4 GiB$/m, /^ {2}verdict +NOT SO$/m],
  },
  evaluation: {
    spec: {
      environment: "balance",
      entrants: [
        { name: "pole@1", modelVersionId, digest, offsetBytes: 0, members: 1, parameters: 8, network: { kind: "mlp" } },
      ],
    },
    result: evaluation,
    name: "balance",
    parts: "pole@1 · 100 episodes each, seed 1",
    lines: [
      /^pole@1 +472 \[471, 473\] +471 \[470, 472\] +472 +the environment: 15, the limit of steps: 5 +█▁$/m,
      /^ {2}failed +2 of crowd: its return is not finite$/m,
      /^ {2}checked first +100 of 100 steps agree with the reference$/m,
    ],
  },
  training: {
    spec: {
      environment: "balance",
      algorithm: { name: "openes", population: 8 },
      stopAt: 475,
      publish: { model: "balancer" },
    },
    result: trainingResult(),
    name: "balance",
    parts: "openes · 100 generations · until a return of 475",
    lines: [
      /^ {2}curve +250 ▁█ 490$/m,
      /^ {2}best policy +488 \[480, 496\] over 100 episodes that chose nothing$/m,
      /^ {2}solved +after generation 10$/m,
    ],
  },
  evolution: {
    spec: { pool, fitness: [1, 2, 3, 4] },
    result: evolution,
    name: "herd",
    parts: "generation 4",
    lines: [/^ {2}pool +herd, generation 4, 2 KiB$/m, /^ {2}best before +agent 2, fitness 1.5$/m, /^ {2}fronts +3$/m],
  },
  consensus: {
    spec: { pool, options: 2 },
    result: consensus,
    name: "herd",
    parts: "2 options",
    lines: [
      /^1 of 2 +REACHED +option 0 +3$/m,
      /^2 of 2 +MISSED +nobody voted +–$/m,
      /^ {2}conflicts +1 rounds, 2 proposers$/m,
    ],
  },
  compression: {
    spec: {
      model: "cartpole",
      version: 1,
      name: "int8",
      recipe: { method: "int8" },
      modelVersionId,
      digest,
      data: null,
    },
    result: compressionResult({
      modelVersionId,
      variant: "int8",
      file: { ...file, name: "variant" },
      publication: "taken",
    }),
    name: "cartpole@1",
    parts: "int8 · weights of 8 bits",
    lines: [
      /^ {2}size +2 KiB instead of 1,000 B$/m,
      /^ {2}fidelity +90%: accuracy 0.9 beside 1, on 12 rows of its data$/m,
      /^ {2}published +no: another file has the name by now$/m,
    ],
  },
};

const AT = "2026-11-22T12:00:00.000Z";

function endedJob(kind: JobKind): Job {
  const { spec, result } = KINDS[kind];
  return {
    id: createId("job"),
    state: "succeeded",
    spec: JobSpec.parse({ kind, ...spec }),
    attempt: 1,
    maxAttempts: 3,
    runnerId: createId("runner"),
    runId: createId("run"),
    progress: null,
    result,
    problem: null,
    submittedBy: null,
    createdAt: AT,
    startedAt: AT,
    endedAt: "2026-11-22T12:00:02.000Z",
  };
}

const canvas = { colour: false, columns: undefined };

describe.each(JobKind.options)("a job of the kind %s", (kind) => {
  const { name, parts, lines } = KINDS[kind];
  const job = endedJob(kind);

  it("is named, and described by what is asked for", () => {
    expect(nameSpec(job.spec, NO_NAMES)).toBe(name);
    expect(describeSpec(job.spec)).toBe(parts);
    expect(renderJob(job, NO_NAMES, canvas)).toContain(`: ${kind} of ${name}\n`);
  });

  it("has a result that people read", () => {
    const text = renderResult(job, canvas);
    for (const line of lines) expect(text).toMatch(line);
    expect(text).toMatch(/^ {2}run +run_\w+ · job_\w+ · 2\.0 s$/m);
    expect(text).not.toMatch(/undefined|NaN|\[object/);
    const { facts } = describeResult(job.result!);
    expect(new Set(facts.map(([each]) => each)).size).toBeGreaterThan(0);
  });

  it("leads to where more of it is shown, once it has a result", () => {
    expect(listResultLinks({ ...job, result: null }, NO_NAMES)).toEqual([]);
    for (const { text, address } of listResultLinks(job, NO_NAMES)) {
      expect(text).not.toBe("");
      expect(address.view).toMatch(/^(kernels|models|validation|evaluations|archives|runners)$/);
    }
  });
});

it("an optimisation that finds nothing says what comes nearest, in colour where there is one", () => {
  const job = { ...endedJob("optimisation"), result: infeasibleResult() };
  expect(renderResult(job, canvas)).toMatch(/^ {2}verdict +INFEASIBLE: ./m);
  expect(renderResult(job, { ...canvas, colour: true })).toContain("\u001b[31mINFEASIBLE\u001b[39m: ");
});

describe("a tuning of a model", () => {
  const spec = {
    kind: "tuning",
    model: "encoder@2",
    variant: "fp32",
    modelVersionId,
    shape: {},
    budgetMs: 30_000,
  } as const;
  const timed = { layout: { ...PLAIN, lanes: 64, spreadFrom: 0 }, ms: summarise([4, 4]) };
  const after = {
    layout: { ...PLAIN, lanes: 256, spreadFrom: 30_000, tiling: "in-slices" as const },
    ms: summarise([2]),
  };
  const trials = [
    { layout: timed.layout, ms: 4, reason: null },
    { layout: after.layout, ms: null, reason: "other outputs" },
  ];
  const size = { inputs: { x: [1, 16, 384] }, trials, before: timed, after, gain: { ratio: 2, low: 2, high: 2 } };
  const network = { model: "encoder@2", modelVersionId, variant: "fp32", sizes: [{ ...size, complete: true }] };
  const times = { reloaded: true, budgetMs: 30_000, spentMs: 900, tunedAt: new Date(0).toISOString() };
  const result: TuningResult = { kind: "tuning", network: { ...network, ...times }, cached: false, environment };

  it("is of its version, and has a row for each size", () => {
    const tuning = { ...spec, seed: 1, fresh: false };
    expect(nameSpec(tuning, NO_NAMES)).toBe("encoder@2");
    expect(describeSpec(tuning)).toBe("fp32 · 30.0 s budget");
    const { table } = describeResult(result);
    const [before, now] = [
      "64 lanes, every operator spread, no tiles",
      "256 lanes, spread from 30000, tiles in-slices",
    ];
    expect(table?.rows).toEqual([["x 1×16×384", before, "4 ms", now, "2 ms", "2 ×", "2 (1 left out)"]]);
    const job = { id: createId("job"), spec: tuning, runId: createId("run"), runnerId: null, result };
    expect(listResultLinks(job, NO_NAMES)[0]?.address).toEqual({ view: "models", model: "encoder" });
    const reloadProblem = createProblem("out-of-memory", "It does not fit twice.");
    const short = { ...network, ...times, reloaded: false, reloadProblem, sizesLeft: 2 };
    expect(describeResult({ ...result, network: short }).facts).toEqual([
      ["model", "encoder@2 fp32"],
      ["served", "by it from its next load on"],
      ["not loaded again", "It does not fit twice."],
      ["searched", "in 900 ms, cut short"],
      ["sizes left out", "2: the budget ended first"],
      ["ran on", expect.any(String)],
    ]);
  });
});
