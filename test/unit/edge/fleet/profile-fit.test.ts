import { describe, expect, it } from "vitest";
import { fitProfile } from "../../../../src/edge/store/fleet/profile-fit.ts";
import { assignJobs } from "../../../../src/edge/queue/assign-jobs.ts";
import type { QueuedJob } from "../../../../src/edge/queue/job-rows.ts";
import type { JobRecord } from "../../../../src/edge/queue/lease-machine.ts";
import type { KnownRunner } from "../../../../src/edge/queue/queue-rpc.ts";
import { checkBenchmark } from "../../../../src/edge/kinds/subjects/check-benchmark.ts";
import { devicesFor } from "../../../../src/edge/kinds/subjects/kernel-devices.ts";
import { BenchmarkSpec } from "../../../../src/protocol/jobs/benchmark.ts";
import { OptimisationSpec } from "../../../../src/protocol/jobs/optimisation.ts";
import type { Capabilities, Device } from "../../../../src/protocol/fleet/hardware.ts";
import { createId } from "../../../../src/protocol/wire/id.ts";
import { ProblemError } from "../../../../src/protocol/wire/problem.ts";
import { BUILT_IN_PROFILES, type Profile } from "../../../../src/protocol/fleet/profile.ts";
import { capabilities } from "../../../edge/stack/samples.ts";

const fit = (requirements: Profile["requirements"]) => fitProfile({ name: "sample", requirements }, capabilities);

describe("the fit of a runner to a profile", () => {
  it("asks nothing where the profile asks nothing", () => {
    expect(fit({})).toEqual({ profile: "sample", fits: true, deviceKey: "cpu", checks: [] });
  });

  it("names the first device that passes every line", () => {
    expect(fit({ device: "gpu" })).toMatchObject({ fits: true, deviceKey: "gpu0" });
    expect(fit({ features: ["subgroups"] })).toMatchObject({ fits: true, deviceKey: "gpu0" });
    expect(fit({ device: "cpu", allowSoftware: false })).toMatchObject({ fits: true, deviceKey: "cpu" });
  });

  it("says line by line why it is none", () => {
    expect(fit({ device: "gpu", allowSoftware: false })).toMatchObject({ fits: false, deviceKey: null });
    const { checks } = fit({ minLogicalCores: 8, minMemoryBytes: 1, features: ["f16"] });
    expect(checks.map(({ requirement, ok }) => [requirement, ok])).toEqual([
      ["logical cores", false],
      ["memory bytes", true],
      ["feature", false],
    ]);
  });

  it("counts what the runner's container may use, and says what would mend it", () => {
    const limited: Capabilities = {
      ...capabilities,
      hardware: { ...capabilities.hardware, container: { cores: 1.5, memoryBytes: 2 ** 30 } },
    };
    const wants = { minLogicalCores: 2, minMemoryBytes: 2 ** 31 };
    expect(fitProfile({ name: "sample", requirements: wants }, limited).checks).toEqual([
      {
        requirement: "logical cores",
        wanted: "at least 2",
        found: "1.5",
        ok: false,
        mend: "give the runner's container more cores",
      },
      {
        requirement: "memory bytes",
        wanted: "at least 2147483648",
        found: "1073741824",
        ok: false,
        mend: "raise the memory limit of the runner's container",
      },
    ]);
    expect(fit(wants).checks.map(({ ok, mend }) => [ok, mend])).toEqual([
      [true, null],
      [true, null],
    ]);
    expect(fit({ minLogicalCores: 8 }).checks[0]?.mend).toBe("use a machine with more cores");
  });

  it("wants instruction sets and memory of a GPU as far as the runner reports them", () => {
    const [cpu, gpu] = capabilities.devices;
    const wide: Capabilities = {
      ...capabilities,
      hardware: {
        ...capabilities.hardware,
        cpu: { ...capabilities.hardware.cpu, instructionSets: [{ name: "AVX2", parts: [] }] },
      },
      devices: [cpu!, { ...gpu!, memoryBytes: 8 * 2 ** 30 }],
    };
    const on = (requirements: Profile["requirements"], to = wide) =>
      fitProfile({ name: "sample", requirements }, to).checks.map(({ found, ok }) => [found, ok]);
    expect(on({ instructionSets: ["AVX2", "AVX-512"] })).toEqual([
      ["AVX2", true],
      ["absent", false],
    ]);
    expect(on({ instructionSets: ["AVX2"] }, capabilities)).toEqual([["not reported by this runner", false]]);
    const large = { minGpuMemoryBytes: 8 * 2 ** 30 };
    expect(fitProfile({ name: "sample", requirements: large }, wide)).toMatchObject({ fits: true, deviceKey: "gpu0" });
    expect(on({ device: "gpu", minGpuMemoryBytes: 2 ** 34 }, { ...wide, devices: [wide.devices[1]!] })).toEqual([
      ["gpu", true],
      ["8589934592", false],
    ]);
    expect(on(large, { ...wide, devices: [gpu!] })).toEqual([["not reported", false]]);
  });

  it("is none on a machine without devices", () => {
    expect(fitProfile({ name: "sample", requirements: {} }, { ...capabilities, devices: [] }).fits).toBe(false);
  });
});

describe("the built-in profiles", () => {
  it("have the targets of the guide", () => {
    const GiB = 2 ** 30;
    expect(
      BUILT_IN_PROFILES.slice(0, 4).map(({ name, targets: { latencyMs, throughputRps, memoryBytes = 0 } }) => [
        name,
        latencyMs,
        throughputRps,
        memoryBytes / GiB,
      ]),
    ).toEqual([
      ["high-performance-cpu", 5, 2_000, 32],
      ["gpu-accelerated", 3, 5_000, 64],
      ["memory-constrained", 15, 500, 8],
      ["balanced", 10, 1_000, 16],
    ]);
    const precisions = BUILT_IN_PROFILES.map(({ settings }) => settings.precision);
    expect(precisions.filter((precision) => precision !== undefined)).toEqual(["fp32", "fp16", "int8", "fp32"]);
  });

  it("have tiers of machines for populations, the highest with several cards", () => {
    const GiB = 2 ** 30;
    const card = { ...capabilities.devices[1]!, software: false, memoryBytes: 24 * GiB - 512 * 2 ** 20 };
    const twin = { ...card, key: "ort-gpu0", backends: ["ort-webgpu" as const] };
    const { cpu } = capabilities.hardware;
    const hardware = { ...capabilities.hardware, cpu: { ...cpu, logicalCores: 32 }, memoryBytes: 127 * GiB };
    const tiersOf = (devices: Device[]) =>
      BUILT_IN_PROFILES.filter(({ name }) => /^gpu-(minimum|recommended|high)$/.test(name))
        .filter((profile) => fitProfile(profile, { hardware, devices }).fits)
        .map(({ name }) => name);
    expect(tiersOf([{ ...card, memoryBytes: 8 * GiB }])).toEqual(["gpu-minimum"]);
    expect(tiersOf([card, twin])).toEqual(["gpu-minimum", "gpu-recommended"]);
    expect(tiersOf([card, { ...card, key: "gpu1" }])).toEqual(["gpu-minimum", "gpu-recommended", "gpu-high"]);
    expect(tiersOf([{ ...card, software: true }])).toEqual([]);
  });
});

const NOW_MS = Date.parse("2026-11-21T12:00:00.000Z");

describe("a benchmark", () => {
  const spec = (changes: object = {}) => BenchmarkSpec.parse({ kind: "benchmark", kernel: "triad", ...changes });
  const state = { online: true, draining: false, jobsLeft: null };
  const runner = { id: "rnr_a", project: "main", shared: false, capabilities, ...state };
  const waiting = (changes: object, profile: Profile | null = null) => ({
    project: "main",
    record: {} as never,
    spec: { ...spec(), ...changes },
    profile,
  });
  const assign = (jobs: readonly QueuedJob[], runners: KnownRunner[], leased: JobRecord[] = []) =>
    assignJobs({ waiting: Map.groupBy(jobs, ({ project }) => project), runners, leased, turnOf: () => 0 }, NOW_MS);
  const may = (changes: object, profile: Profile | null = null) =>
    assign([waiting(changes, profile)], [runner]).length === 1;

  it("is checked against what is announced, by field", () => {
    expect(checkBenchmark(spec(), [capabilities])).toEqual([]);
    expect(checkBenchmark(spec({ dtype: "float32" }), [capabilities])).toEqual([]);
    expect(
      checkBenchmark(spec({ shape: { n: 0.5 + 0.5, m: 2 }, dtype: "int8", variant: "odd" }), [capabilities]).map(
        ({ pointer }) => pointer,
      ),
    ).toEqual(["#/shape/m", "#/dtype", "#/variant"]);
    expect(() => checkBenchmark(spec({ kernel: "gemm" }), [capabilities])).toThrow(ProblemError);
    expect(() => checkBenchmark(spec(), [])).toThrow("No runner has the kernel");
  });

  it("of a kernel that needs a feature wants a runner with a device that has it", () => {
    const halves = spec({ kernel: "halves" });
    expect(() => checkBenchmark(halves, [capabilities])).toThrow("it needs shader-f16");
    expect(may({ kernel: "halves" })).toBe(false);
    const [cpu, gpu] = capabilities.devices;
    const able = { ...capabilities, devices: [cpu!, { ...gpu!, features: ["shader-f16"] }] };
    expect(checkBenchmark(halves, [capabilities, able])).toEqual([]);
    const runners = [runner, { ...runner, id: "rnr_b", capabilities: able }];
    const given = assign([waiting({ kernel: "halves" })], runners);
    expect(given.map((each) => each.runner.id)).toEqual(["rnr_b"]);
  });

  it("wants a runner with a device that runs its kernel by the variant that it names", () => {
    const [cpu, gpu] = capabilities.devices;
    const triad = { ...capabilities.kernels.find(({ name }) => name === "triad")!, variants: ["plain", "cpu-simd"] };
    const simd = { ...cpu!, backends: ["cpu-simd" as const] };
    const none = { ...capabilities, devices: [cpu!], kernels: [triad] };
    const onGpu = { ...none, devices: [cpu!, gpu!] };
    const onCpu = { ...none, devices: [simd] };
    const runners = [none, onGpu, onCpu].map((each, index) => ({ ...runner, id: `rnr_${index}`, capabilities: each }));
    const taker = (changes: object) => assign([waiting(changes)], runners)[0]?.runner.id;
    expect(() => checkBenchmark(spec(), [none])).toThrow("it needs a device that runs one of its variants");
    expect(() => checkBenchmark(spec({ variant: "plain" }), [onCpu])).toThrow("runs its variant plain");
    expect(() => checkBenchmark(spec({ variant: "cpu-simd" }), [onGpu])).toThrow("runs its variant cpu-simd");
    expect(checkBenchmark(spec({ variant: "cpu-simd" }), [onGpu, onCpu])).toEqual([]);
    expect(taker({})).toBe("rnr_1");
    expect(taker({ variant: "cpu-simd" })).toBe("rnr_2");
  });

  it("of a submitted kernel wants a device for WGSL, on a runner that takes such kernels", () => {
    const kernel = createId("kernel");
    const keys = (on: Capabilities, reference = "triad") => devicesFor({ kernel, reference }, on).map(({ key }) => key);
    expect(keys(capabilities)).toEqual(["gpu0"]);
    expect(keys(capabilities, kernel)).toEqual(["gpu0"]);
    expect(keys(capabilities, "halves")).toEqual([]);
    expect(keys({ ...capabilities, userKernels: false })).toEqual([]);
    expect(keys({ ...capabilities, devices: capabilities.devices.slice(0, 1) }, kernel)).toEqual([]);
  });

  it("goes to a runner that has its kernel, fits its profile and is the one it names", () => {
    const profile = (requirements: Profile["requirements"]): Profile => ({
      name: "p",
      description: "",
      requirements,
      targets: {},
      settings: {},
      builtIn: false,
      version: 1,
      updatedAt: null,
    });
    expect(may({})).toBe(true);
    expect(may({ kernel: "gemm" })).toBe(false);
    expect(may({ runnerId: "rnr_a" })).toBe(true);
    expect(may({ runnerId: "rnr_b" })).toBe(false);
    expect(may({}, profile({ device: "gpu" }))).toBe(true);
    expect(may({}, profile({ allowSoftware: false, device: "gpu" }))).toBe(false);
  });

  it("goes to a runner with the device that it names, and where its kernel is not in quarantine", () => {
    expect(may({ deviceKey: "gpu0" })).toBe(true);
    expect(may({ deviceKey: "gpu1" })).toBe(false);
    expect(may({ deviceKey: "cpu" })).toBe(false);

    const locked = (until: string, kernel = "triad") => ({ kernel, code: "device-lost" as const, failures: 3, until });
    const withDevices = (...entries: ReturnType<typeof locked>[][]) => ({
      ...runner,
      capabilities: {
        ...capabilities,
        devices: entries.map((quarantined, index) => ({
          ...capabilities.devices[1]!,
          key: `gpu${index}`,
          quarantined,
        })),
      },
    });
    const later = "2026-11-21T12:00:00.001Z";
    const mayOn = (to: typeof runner, changes: object = {}) => assign([waiting(changes)], [to]).length === 1;
    expect(mayOn(withDevices([locked(later)]))).toBe(false);
    expect(mayOn(withDevices([locked(later)]), { onDeviceFailure: "cpu-reference" })).toBe(true);
    expect(mayOn(withDevices([locked("2026-11-21T12:00:00.000Z")]))).toBe(true);
    expect(mayOn(withDevices([locked(later, "gemm")]))).toBe(true);
    expect(mayOn(withDevices([locked(later)], []))).toBe(true);
    expect(mayOn(withDevices([locked(later)], []), { deviceKey: "gpu0" })).toBe(false);
  });

  it("that searches on devices which it names goes to a runner that has one of them", () => {
    const search = (deviceKeys?: string[]) => ({
      ...waiting({}),
      spec: OptimisationSpec.parse({
        kind: "optimisation",
        subject: { kind: "kernel", kernel: "triad" },
        objective: "latency",
        targets: {},
        space: { deviceKeys },
      }),
    });
    const isTaken = (deviceKeys?: string[]) => assign([search(deviceKeys)], [runner]).length === 1;
    expect([isTaken(), isTaken(["gpu0"]), isTaken(["gpu1", "gpu0"]), isTaken(["gpu1"])]).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });

  it("runs on the CPU where its variant is asked for, the CPU is named or there is no GPU", () => {
    const [cpu, gpu] = capabilities.devices.map((device) =>
      device.kind === "cpu" ? { ...device, backends: ["ort-cpu" as const, "cpu-simd" as const] } : device,
    );
    const announced = capabilities.kernels.find(({ name }) => name === "triad")!;
    const triad = { ...announced, variants: ["plain", "cpu-simd"] };
    const both = { ...capabilities, devices: [cpu!, gpu!], kernels: [triad] };
    const keys = (target: object, on = both) => devicesFor({ kernel: "triad", ...target }, on).map(({ key }) => key);
    expect(keys({})).toEqual(["gpu0"]);
    expect(keys({ variant: "plain" })).toEqual(["gpu0"]);
    expect(keys({ variant: "cpu-simd" })).toEqual(["cpu"]);
    expect(keys({ deviceKey: "cpu" })).toEqual(["cpu"]);
    expect(keys({ deviceKey: "cpu", variant: "plain" })).toEqual([]);
    expect(keys({}, { ...both, devices: [cpu!] })).toEqual(["cpu"]);
    expect(keys({ deviceKey: "cpu" }, capabilities)).toEqual([]);
  });

  it("is given out oldest first, to runners with room beside what they hold", () => {
    const jobs = [waiting({ seed: 1 }), waiting({ seed: 2, runnerId: "rnr_a" }), waiting({ seed: 3 })];
    const other = { ...runner, id: "rnr_b" };
    const seeds = (leasedBy: string[]) =>
      assign(
        jobs,
        [runner, other],
        leasedBy.map((runnerId) => ({ runnerId }) as never),
      ).map(({ job, runner: to }) => [job.spec.kind === "benchmark" && job.spec.seed, to.id]);
    expect(capabilities.jobSlots).toBe(1);
    expect(seeds([])).toEqual([
      [1, "rnr_a"],
      [3, "rnr_b"],
    ]);
    expect(seeds(["rnr_a"])).toEqual([[1, "rnr_b"]]);
    expect(seeds(["rnr_a", "rnr_b"])).toEqual([]);
  });
});
