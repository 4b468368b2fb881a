import { describe, expect, it, vi } from "vitest";
import { runBenchmark } from "../../../../src/gpu-runner/kinds/benchmark.ts";
import { describeTuningKey } from "../../../../src/gpu-runner/kinds/steps/find-tuned.ts";
import { runTuning } from "../../../../src/gpu-runner/kinds/tuning/run-tuning.ts";
import { BenchmarkSpec } from "../../../../src/protocol/jobs/benchmark.ts";
import { ProblemError } from "../../../../src/protocol/wire/problem.ts";
import { tuningIdOf, type TuningRecord, TuningResult, TuningSpec } from "../../../../src/protocol/jobs/tuning.ts";
import { benchmarkResult, capabilities, tuningResult } from "../../../edge/stack/samples.ts";
import { createGuarding } from "../guarding-fleet.ts";

const device = { ...capabilities.devices[1]!, limits: { maxComputeInvocationsPerWorkgroup: 128 } };
const gemm = { kernel: "gemm", shape: { m: 500, n: 512, k: 512 }, dtype: "float32" } as const;

/** A runner with a device that records its requests, and with known tunings. */
async function createRunner(best: { variant: string; axes: Record<string, number> } | null) {
  const asked: unknown[] = [];
  const known = new Map<string, TuningRecord>();
  const key = await describeTuningKey(device, { ...gemm, shape: { m: 512, n: 500, k: 520 } });
  const { tuning, trials } = tuningResult();
  const record = { tuning: { ...tuning, ...key, best: { ...tuning.best, ...best } }, trials };
  if (key !== null && best !== null) known.set(await tuningIdOf(key), record);
  const { kind: _, environment: __, tuned: ___, ...measured } = benchmarkResult();
  const samples = { wallMs: Float64Array.of(1, 2, 3), gpuMs: null };
  const host = {
    device,
    kernelDigests: {},
    benchmark: async ({ variant, axes }: BenchmarkSpec) => (asked.push({ variant, axes }), { ...measured, samples }),
    tune: vi.fn<(spec: TuningSpec) => Promise<TuningRecord>>(async (spec) => (asked.push(spec), { tuning, trials })),
  };
  const rooflines = { ensure: async () => ({ roofline: null, missing: "not measured" }) };
  const tunings = {
    find: async (id: string) => known.get(id) ?? null,
    save: async (id: string, saved: TuningRecord) => void known.set(id, saved),
  };
  const fleet = { withKernel: () => ({ host }), ...createGuarding() };
  const context = { fleet, tunings, rooflines, signal: new AbortController().signal };
  const shared = { ...context, program: null, otherJobs: 0, onProgress: () => undefined } as never;
  return {
    asked,
    known,
    host,
    benchmark: async (changes: object = {}) =>
      (await runBenchmark(BenchmarkSpec.parse({ kind: "benchmark", ...gemm, ...changes }), shared)).result,
    tune: async (changes: object = {}) =>
      (await runTuning(TuningSpec.parse({ kind: "tuning", ...gemm, ...changes }), shared)).result,
  };
}

const best = { variant: "register-tiled", axes: { lanesN: 16, lanesM: 2 } };

describe("a benchmark", () => {
  it("runs what was found to be best for its bucket, and says so", async () => {
    const { benchmark, asked } = await createRunner(best);
    expect(await benchmark()).toMatchObject({ kind: "benchmark", tuned: true });
    expect(asked).toEqual([best]);
  });

  it.each([
    ["is named", { variant: "shared-tiled", axes: { tile: 8 } }, { variant: "shared-tiled", axes: { tile: 8 } }],
    ["shall be untuned", { tuned: false }, {}],
    ["is of another bucket", { shape: { m: 64 } }, {}],
  ])("runs as it %s", async (_, changes, expected) => {
    const { benchmark, asked } = await createRunner(best);
    expect(await benchmark(changes)).toMatchObject({ tuned: false });
    expect(asked).toEqual([expected]);
  });

  it("runs the default where nothing is known, or what is known does not fit", async () => {
    for (const unusable of [null, { variant: "gone", axes: {} }, { variant: "shared-tiled", axes: { tile: 16 } }]) {
      const { benchmark, asked } = await createRunner(unusable);
      expect(await benchmark()).toMatchObject({ tuned: false });
      expect(asked).toEqual([{}]);
    }
  });
});

describe("a tuning", () => {
  it("is searched once and then known, unless it shall be fresh", async () => {
    const { tune, asked, known } = await createRunner(best);
    const [tuning] = [...known.values()];
    expect(await tune()).toMatchObject({ kind: "tuning", cached: true, ...tuning });
    expect(asked).toEqual([]);
    expect(await tune({ fresh: true })).toMatchObject({ cached: false });
    expect(asked).toHaveLength(1);
  });

  it("is begun again, once, where its device is lost, and says so", async () => {
    const { tune, host, asked } = await createRunner(null);
    host.tune.mockRejectedValueOnce(new ProblemError("device-lost", "It died."));
    const fault = { code: "device-lost", detail: "It died.", action: "retried" };
    expect(TuningResult.parse(await tune())).toMatchObject({ cached: false, faults: [fault] });
    expect(asked).toHaveLength(1);
  });

  it("of a kernel that is locked out is refused", async () => {
    const { tune, host, asked } = await createRunner(null);
    host.tune.mockRejectedValue(new ProblemError("device-lost", "It died."));
    await expect(tune()).rejects.toMatchObject({ problem: { code: "device-lost" } });
    await expect(tune()).rejects.toMatchObject({ problem: { code: "kernel-quarantined" } });
    await expect(tune()).rejects.toMatchObject({ problem: { code: "kernel-quarantined" } });
    expect(host.tune).toHaveBeenCalledTimes(3);
    expect(asked).toEqual([]);
  });

  it("is kept with the device that it was found on", async () => {
    const { tune, known } = await createRunner(null);
    expect(await tune()).toMatchObject({ cached: false });
    const [[id, { tuning }] = ["", tuningResult()]] = [...known];
    expect(tuning).toMatchObject({ fingerprint: device.fingerprint, deviceName: device.name, software: true });
    expect(id).toBe(await tuningIdOf(tuning));
  });
});
