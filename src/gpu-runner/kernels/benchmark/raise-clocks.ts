import { assertWanted } from "../../devices/progress.ts";
import { shareCoreUntil } from "../../devices/gpu/wait-for-gpu.ts";
import { isEmulated } from "../../host/hardware/device-names.ts";

/** A GPU's clocks may be low after such a pause. */
const PAUSE_MS = 500;
/** They are up where runs have not become faster for so long. */
const STEADY_MS = 300;
const LEAST_MS = 500;
const MOST_MS = 2_000;
/** Share of a run's time by which the next is surely faster. */
const FASTER = 0.02;

const GROUPS = 1_024;
const LANES = 64;
/** Some tenths of a millisecond on a large GPU, some milliseconds on a small one. */
const LOAD = `
@group(0) @binding(0) var<storage, read_write> sums: array<f32>;
@compute @workgroup_size(${LANES})
fn main(@builtin(global_invocation_id) at: vec3<u32>) {
  var sum = f32(at.x);
  for (var i = 0u; i < 65536u; i++) { sum = fma(sum, 0.5, 1.0); }
  sums[at.x] = sum;
}`;

const busyUntilMs = new WeakMap<GPUDevice, number>();

/** Says that a device has just been busy with runs of a kernel. */
export function noteBusy(device: GPUDevice): void {
  busyUntilMs.set(device, performance.now());
}

/**
 * Keeps a GPU busy until its clocks are up, for up to two seconds, unless it has just been busy. An idle H200 ran at 345
 * MHz of 1,980, so that its roof for float32 was measured as a sixth; under a light load it took a second to come up.
 * Emulations have no clocks of their own. Fails with `cancelled`.
 */
export async function raiseClocks(device: GPUDevice, signal: AbortSignal): Promise<void> {
  const startedMs = performance.now();
  if (isEmulated(device.adapterInfo) || startedMs - (busyUntilMs.get(device) ?? -Infinity) < PAUSE_MS) return;
  const module = device.createShaderModule({ label: "raise-clocks", code: LOAD });
  const pipeline = await device.createComputePipelineAsync({ layout: "auto", compute: { module } });
  const buffer = device.createBuffer({ size: 4 * GROUPS * LANES, usage: GPUBufferUsage.STORAGE });
  const bindings = device.createBindGroup({
    layout: pipeline.getBindGroupLayout(0),
    entries: [{ binding: 0, resource: { buffer } }],
  });
  let fastest = { ms: Number.POSITIVE_INFINITY, atMs: startedMs };
  try {
    for (let beganMs = startedMs; beganMs - startedMs < MOST_MS;) {
      assertWanted(signal);
      const encoder = device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, bindings);
      pass.dispatchWorkgroups(GROUPS);
      pass.end();
      device.queue.submit([encoder.finish()]);
      await shareCoreUntil(device.queue.onSubmittedWorkDone());
      const nowMs = performance.now();
      if (nowMs - beganMs < (1 - FASTER) * fastest.ms) fastest = { ms: nowMs - beganMs, atMs: nowMs };
      if (nowMs - startedMs > LEAST_MS && nowMs - fastest.atMs > STEADY_MS) break;
      beganMs = nowMs;
    }
  } finally {
    buffer.destroy();
  }
  noteBusy(device);
}
