import { describe, expect, it } from "vitest";
import {
  predictOccupancy,
  type WorkgroupNeeds,
} from "../../../../src/gpu-runner/kernels/benchmark/predict-occupancy.ts";

const V100 = "nvidia  tesla-v100-sxm2-16gb";
const A100 = "nvidia ampere nvidia-a100-sxm4-40gb";
const RTX_3080 = "nvidia ampere nvidia-geforce-rtx-3080";
const RTX_4090 = "nvidia lovelace nvidia-geforce-rtx-4090";
const H100 = "nvidia  nvidia-h100-80gb-hbm3";
const RX_6800 = "amd rdna-2 amd-radeon-rx-6800-radv-navi21";

const predict = (adapter: string, lanes: number, memoryBytes = 0, rest: Partial<WorkgroupNeeds> = {}) =>
  predictOccupancy(adapter, { lanes, memoryBytes, ...rest });

describe("predicted occupancy", () => {
  it("counts registers as NVIDIA's example does (CUDA C++ Best Practices Guide, Calculating Occupancy)", () => {
    expect(predict(V100, 128, 0, { registers: 37 })).toMatchObject({ workgroups: 12, share: 0.75 });
    expect(predict(V100, 320, 0, { registers: 37 })).toMatchObject({ workgroups: 4, share: 0.625 });
    expect(predict(V100, 1024, 0, { registers: 32 })).toMatchObject({ share: 1 });
  });

  it("stops small workgroups at the number of them (CUDA C++ Programming Guide, technical specifications)", () => {
    expect(predict(H100, 32)).toMatchObject({ workgroups: 32, waves: 32, maxWaves: 64, limitedBy: "workgroups" });
    expect(predict(RTX_3080, 32)).toMatchObject({ workgroups: 16, maxWaves: 48, limitedBy: "workgroups" });
    expect(predict(RTX_4090, 64)).toMatchObject({ workgroups: 24, waves: 48, share: 1 });
    expect(predict(RTX_3080, 1024)).toMatchObject({ workgroups: 1, waves: 32, limitedBy: "waves" });
  });

  it("counts the kilobyte that every workgroup is charged since Ampere (Ampere Tuning Guide)", () => {
    // 163 KiB is the most that one block of an A100 may have of its 164 KiB.
    expect(predict(A100, 256, 163 * 1024)).toMatchObject({ workgroups: 1, limitedBy: "workgroup-memory" });
    expect(predict(A100, 256, 16 * 1024)).toMatchObject({ workgroups: 8, limitedBy: "waves" });
    expect(predict(A100, 128, 16 * 1024)).toMatchObject({ workgroups: 9, limitedBy: "workgroup-memory" });
  });

  it.each([
    [32, 4],
    [64, 8],
    [96, 12],
    [128, 15],
    [192, 15],
    [256, 16],
  ])("agrees with LLVM for RDNA 2 at %i lanes with 8,252 bytes: %i waves a SIMD", (lanes, wavesPerSimd) => {
    // llvm/test/CodeGen/AMDGPU/occupancy-levels.ll, GFX1030W32; four SIMDs share a workgroup processor.
    expect(Math.ceil((predict(RX_6800, lanes, 8252)?.waves ?? 0) / 4)).toBe(wavesPerSimd);
  });

  it("says that it is a prediction without registers", () => {
    expect(predict(H100, 64)).toMatchObject({ label: "predicted", registers: "unknown", unit: "SM" });
    expect(predict(RX_6800, 64)).toMatchObject({ label: "predicted", unit: "WGP", share: 1 });
  });

  it.each([
    "google swiftshader swiftshader-device-subzero-",
    "mesa software llvmpipe-llvm-15-0-6-256-bits-",
    "apple metal-3 apple-m2",
    "intel xe-2hpg intel-arc-b580",
    "nvidia ampere nvidia-tegra-orin-nvgpu",
    "",
  ])("is null where the architecture is not in the table: '%s'", (adapter) => {
    expect(predict(adapter, 64)).toBeNull();
  });
});
