import { describe, expect, it } from "vitest";
import { nameInstructionSets } from "../../../../../src/gpu-runner/host/hardware/device-names.ts";
import {
  countCpus,
  readCaches,
  readClocks,
  readHardware,
} from "../../../../../src/gpu-runner/host/hardware/read-hardware.ts";
import { parseCpuMax, readContainerLimits } from "../../../../../src/gpu-runner/host/hardware/read-container-limits.ts";
import { Hardware } from "../../../../../src/protocol/fleet/hardware.ts";
import { layOutMachine } from "../sensors/machine-files.ts";

const names = (flags: string, arch = "x64") => nameInstructionSets(flags.split(" "), arch).map(({ name }) => name);
const partsOf = (flags: string, wanted: string, arch = "x64") =>
  nameInstructionSets(flags.split(" "), arch).find(({ name }) => name === wanted)?.parts;

describe("the instruction sets of a processor", () => {
  const sapphireRapids =
    "sse4_1 sse4_2 avx f16c fma avx2 avx512f avx512dq avx512bw avx512vl avx512_bf16 avx512vbmi avx512_vnni avx512_fp16 avx_vnni amx_bf16 amx_int8 amx_tile";

  it("are named, with those parts of AVX-512 and AMX that it has", () => {
    expect(names(sapphireRapids)).toEqual(["SSE4", "AVX", "AVX2", "AVX-512", "AMX"]);
    expect(partsOf(sapphireRapids, "AVX2")).toEqual(["FMA", "VNNI"]);
    expect(partsOf(sapphireRapids, "AVX-512")).toEqual(["BF16", "BW", "DQ", "F", "FP16", "VBMI", "VL", "VNNI"]);
    expect(partsOf(sapphireRapids, "AMX")).toEqual(["BF16", "INT8", "TILE"]);
  });

  it("are no wider ones than the flags say", () => {
    expect(names("sse4_1 sse4_2 avx f16c fma avx2")).toEqual(["SSE4", "AVX", "AVX2"]);
    expect(names("sse4_1 avx512")).toEqual(["SSE4"]);
    expect(names("")).toEqual([]);
  });

  it("of an ARM processor are NEON and SVE", () => {
    const graviton = "fp asimd evtstrm fphp asimdhp asimddp sve sve2 svei8mm svebf16 i8mm bf16";
    expect(names(graviton, "arm64")).toEqual(["NEON", "SVE", "SVE2"]);
    expect(partsOf(graviton, "NEON", "arm64")).toEqual(["ASIMDDP", "ASIMDHP", "BF16", "I8MM"]);
    expect(partsOf(graviton, "SVE", "arm64")).toEqual(["BF16", "I8MM"]);
    expect(names("half thumb neon vfpv4", "arm")).toEqual(["NEON"]);
    // macOS reports no flags there.
    expect(names("", "arm64")).toEqual(["NEON"]);
  });

  it("of an Intel Mac are written with a dot", () => {
    expect(names("sse4.1 sse4.2 avx1.0 avx2")).toEqual(["SSE4", "AVX", "AVX2"]);
  });
});

describe("the limits of a container", () => {
  it("are the tightest of its group and those above", async () => {
    const root = await layOutMachine({
      "proc/self/cgroup": "0::/machine.slice/app.scope",
      "sys/fs/cgroup/machine.slice/cpu.max": "400000 100000",
      "sys/fs/cgroup/machine.slice/memory.max": 8_589_934_592,
      "sys/fs/cgroup/machine.slice/app.scope/cpu.max": "150000 100000",
      "sys/fs/cgroup/machine.slice/app.scope/memory.max": "max",
    });
    expect(await readContainerLimits(root)).toEqual({ cores: 1.5, memoryBytes: 8_589_934_592 });
  });

  it("are those at the top where the container sees only its own group", async () => {
    const root = await layOutMachine({
      "proc/self/cgroup": "0::/../../docker/0123",
      "sys/fs/cgroup/cpu.max": "200000 100000",
      "sys/fs/cgroup/memory.max": 4_294_967_296,
    });
    expect(await readContainerLimits(root)).toEqual({ cores: 2, memoryBytes: 4_294_967_296 });
  });

  it("are read in the first version, too", async () => {
    const root = await layOutMachine({
      "proc/self/cgroup": "5:memory:/docker/0123\n4:cpu,cpuacct:/docker/0123\n0::/",
      "sys/fs/cgroup/cpu/docker/0123/cpu.cfs_quota_us": 250_000,
      "sys/fs/cgroup/cpu/docker/0123/cpu.cfs_period_us": 100_000,
      "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
      "sys/fs/cgroup/memory/docker/0123/memory.limit_in_bytes": 1_073_741_824,
    });
    expect(await readContainerLimits(root)).toEqual({ cores: 2.5, memoryBytes: 1_073_741_824 });
  });

  it("are none where nothing is limited", async () => {
    const root = await layOutMachine({
      "proc/self/cgroup": "0::/user.slice",
      "sys/fs/cgroup/user.slice/cpu.max": "max 100000",
      "sys/fs/cgroup/cpu/cpu.cfs_quota_us": -1,
      "sys/fs/cgroup/cpu/cpu.cfs_period_us": 100_000,
    });
    expect(await readContainerLimits(root)).toEqual({ cores: null, memoryBytes: null });
    expect(await readContainerLimits(await layOutMachine({}))).toEqual({ cores: null, memoryBytes: null });
  });

  it.each([
    ["max 100000", null],
    ["50000 100000", 0.5],
    ["", null],
    ["100000", null],
  ])("that say %j allow %j cores", (text, cores) => expect(parseCpuMax(text)).toBe(cores));
});

describe("caches and clocks", () => {
  const cache = "sys/devices/system/cpu/cpu0/cache";
  it("are those of the first core", async () => {
    const root = await layOutMachine({
      [`${cache}/index0/level`]: 1,
      [`${cache}/index0/type`]: "Data",
      [`${cache}/index0/size`]: "48K",
      [`${cache}/index0/shared_cpu_list`]: "0,32",
      [`${cache}/index1/level`]: 3,
      [`${cache}/index1/type`]: "Unified",
      [`${cache}/index1/size`]: "36M",
      [`${cache}/index1/shared_cpu_list`]: "0-15,32-47",
      [`${cache}/index2/level`]: 4,
      [`${cache}/index2/size`]: "64M",
    });
    expect(await readCaches(root)).toEqual([
      { level: 1, kind: "data", sizeBytes: 48 * 2 ** 10, sharedBy: 2 },
      { level: 3, kind: "unified", sizeBytes: 36 * 2 ** 20, sharedBy: 32 },
    ]);
    expect(countCpus("7")).toBe(1);
  });

  it("are the fastest core's; null where no driver reports them", async () => {
    const policies = "sys/devices/system/cpu/cpufreq";
    const root = await layOutMachine({
      [`${policies}/policy0/base_frequency`]: 3_400_000,
      [`${policies}/policy0/cpuinfo_max_freq`]: 5_400_000,
      [`${policies}/policy16/base_frequency`]: 2_500_000,
      [`${policies}/policy16/cpuinfo_max_freq`]: 4_200_000,
    });
    expect(await readClocks(root)).toEqual({ baseClockMhz: 3_400, maxClockMhz: 5_400 });
    expect(await readClocks(await layOutMachine({}))).toEqual({ baseClockMhz: null, maxClockMhz: null });
  });
});

it("this machine's hardware is described as the protocol has it", async () => {
  const hardware = await readHardware();
  expect(Hardware.parse(hardware)).toEqual(hardware);
  expect(hardware.cpu.logicalCores).toBeGreaterThan(0);
  expect(hardware.container).toBeDefined();
});
