import { describe, expect, it } from "vitest";
import { judgeClock } from "../../../src/cli/doctor/check-edge.ts";
import { judgeCpu, judgeDescriptors, judgeMemory, judgeRoom } from "../../../src/cli/doctor/check-host.ts";
import { judgeFallback } from "../../../src/cli/doctor/check-gpu.ts";
import { judgeNode } from "../../../src/cli/doctor/check-install.ts";
import { listListeners } from "../../../src/cli/doctor/check-port.ts";
import { judgeDrivers } from "../../../src/cli/doctor/check-vulkan.ts";

const MiB = 2 ** 20;

describe("the doctor judges", () => {
  it("Node by what npm needs", () => {
    const versions = ["v18.20.4", "v20.10.0", "v20.11.0", "v20.20.2", "v24.0.0", "bun"];
    expect(versions.map((version) => judgeNode(version, "node").state)).toEqual([
      "failure",
      "failure",
      "ok",
      "ok",
      "ok",
      "failure",
    ]);
  });

  it("a disk and a memory by what is left", () => {
    const rooms = [100, 256, 2_047, 2_048].map((free) => judgeRoom("/data", free * MiB).state);
    expect(rooms).toEqual(["failure", "warning", "warning", "ok"]);
    expect(judgeRoom("/data", 100 * MiB).found).toBe("/data: 100 MiB free");
    expect([1_000, 2_048].map((free) => judgeMemory(free * MiB, 4_096 * MiB).state)).toEqual(["warning", "ok"]);
  });

  it("open files by the limit in force, which comes first", () => {
    const limits = (text: string) => `Limit  Soft Limit  Hard Limit  Units\nMax open files  ${text}  1048576  files\n`;
    const states = ["128", "1024", "65536", "unlimited"].map((text) => judgeDescriptors(limits(text)).state);
    expect(states).toEqual(["failure", "warning", "ok", "ok"]);
    expect(judgeDescriptors("").state).toBe("skipped");
  });

  it("a CPU by its instructions and its governor", () => {
    expect(judgeCpu("2 × Xeon", "flags\t\t: fpu avx avx2 fma\n", null).state).toBe("ok");
    expect(judgeCpu("4 × Cortex", "Features\t: fp asimd\n", "performance").state).toBe("ok");
    expect(judgeCpu("2 × Xeon", "flags : fpu avx2\n", "powersave").advice).toContain("cpupower");
    expect(judgeCpu("1 × Atom", "flags : fpu sse4_2\n", null).found).toContain("no AVX2");
  });

  it("a clock only by what is certain of it", () => {
    expect(judgeClock(-1_500, 500).state).toBe("ok");
    expect(judgeClock(5_000, 500)).toMatchObject({ state: "warning", found: "5 s behind the edge's" });
    expect(judgeClock(-90_000, 500)).toMatchObject({ state: "failure", found: "90 s ahead of the edge's" });
    // A reply that took a minute says nothing.
    expect(judgeClock(30_000, 30_500).state).toBe("ok");
  });

  it("Vulkan by drivers, loader and what the kernel found", () => {
    const sight = { override: null, drivers: [], hasLoader: true, board: null };
    const sound = { path: "/usr/share/vulkan/icd.d/intel.json", fault: null };
    const broken = { path: "/etc/vulkan/icd.d/nvidia.json", fault: "names libGLX_nvidia.so.0, which is not there" };
    expect(judgeDrivers(sight).state).toBe("warning");
    expect(judgeDrivers({ ...sight, board: "/dev/dri/renderD128" })).toMatchObject({
      state: "failure",
      advice: expect.stringContaining("container"),
    });
    expect(judgeDrivers({ ...sight, drivers: [sound] })).toMatchObject({ state: "ok", found: sound.path });
    expect(judgeDrivers({ ...sight, drivers: [sound], hasLoader: false }).found).toContain("libvulkan.so.1");
    expect(judgeDrivers({ ...sight, drivers: [sound, broken] })).toMatchObject({ state: "warning" });
    expect(judgeDrivers({ ...sight, drivers: [broken] })).toMatchObject({
      state: "failure",
      found: expect.stringContaining("libGLX_nvidia.so.0"),
    });
    expect(judgeDrivers({ ...sight, override: "VK_DRIVER_FILES" }).found).toContain("VK_DRIVER_FILES names no");
  });

  it("what stands in for a GPU", () => {
    const opened = { name: "swiftshader", driver: "SwiftShader", software: true };
    const software = { adapters: ["SwiftShader Device"], opened };
    expect(judgeFallback(null, software)).toMatchObject({ state: "warning" });
    expect(judgeFallback("it crashes (SIGSEGV)", software)).toMatchObject({
      state: "failure",
      found: "the GPU's driver fails: it crashes (SIGSEGV); in its stead the software GPU swiftshader",
    });
    expect(judgeFallback(null, "it hangs")).toMatchObject({
      state: "failure",
      found: "no GPU, and no software GPU either: it hangs",
    });
  });

  it("who listens by the kernel's table", () => {
    const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:2253 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 12345 1 0 100 0 0 10 0
   1: 0100007F:2253 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 23456 1 0 100 0 0 10 0
   2: 00000000:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 34567 1 0 100 0 0 10 0`;
    expect(listListeners(table, 8_787)).toEqual(["12345"]);
    expect(listListeners(table, 80)).toEqual(["34567"]);
  });
});
