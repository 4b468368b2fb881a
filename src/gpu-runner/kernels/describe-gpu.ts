import { readFile } from "node:fs/promises";
import { cpus } from "node:os";
import { triad } from "../../../kernels/triad/triad.kernel.ts";
import type { Device } from "../../protocol/fleet/hardware.ts";
import { isEmulated } from "../host/hardware/device-names.ts";
import { DISABLED_TOGGLES, type Gpu, readLimits } from "../devices/gpu/device.ts";
import { type KernelContext, prepareKernel } from "./dispatch/dispatch.ts";
import { defaultAxes } from "./tuning/list-candidates.ts";
import { measureKernel } from "./benchmark/measure-kernel.ts";
import { GpuTimer } from "../devices/gpu/timer.ts";

/** Granularity of Dawn's rounded timestamps. */
const QUANTUM_NS = 65_536;

/** Describes an open GPU; whether its timestamps are quantised is measured, not looked up. */
export async function probeGpu(gpu: Gpu, context: KernelContext, key: string): Promise<Device> {
  const { vendor, architecture, device, description } = gpu.adapter.info;
  const adapter = [vendor, architecture, device].filter(Boolean).join(" ");
  return {
    key,
    kind: "gpu",
    name: device.replace(/-+$/, "") || architecture || vendor || "GPU",
    software: isEmulated(gpu.adapter.info),
    fingerprint: {
      adapter: adapter || null,
      driver: description || null,
      dawn: await readDawnVersion(),
      toggles: DISABLED_TOGGLES.map((toggle) => `-${toggle}`),
      ort: null,
      cpu: cpus()[0]?.model.trim() ?? "unknown",
    },
    backends: ["wgsl"],
    features: [...gpu.device.features].toSorted(),
    limits: readLimits(gpu.device.limits),
    // WebGPU does not report it.
    memoryBytes: null,
    timestampQuantised: gpu.device.features.has("timestamp-query") ? await measureQuantisation(context) : null,
    // The runner remembers it, or measures it with the first benchmark.
    roofline: null,
  };
}

/** True where the durations of runs of several lengths are all multiples of the quantum. */
export async function measureQuantisation(context: KernelContext): Promise<boolean> {
  const timer = new GpuTimer(context.device, context.pool);
  const durationsMs: number[] = [];
  try {
    for (const n of [2 ** 10, 2 ** 14, 2 ** 18]) {
      const shape = { n };
      const variant = triad.variants[0];
      const axes = defaultAxes(variant);
      const prepared = await prepareKernel(context, { kernel: triad, variant, shape, axes }, triad.generate(shape, 0));
      const { gpuMs } = await measureKernel(context.device, prepared, timer, 5, () => {});
      durationsMs.push(...(gpuMs ?? []));
      prepared.release();
    }
  } finally {
    timer.destroy();
  }
  return durationsMs.every((duration) => Math.round(duration * 1e6) % QUANTUM_NS === 0);
}

/** Version of the npm package that carries Dawn; Dawn itself does not report its own. */
async function readDawnVersion(): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(new URL(import.meta.resolve("webgpu/package.json")), "utf8"));
  return `webgpu ${(manifest as { version: string }).version}`;
}
