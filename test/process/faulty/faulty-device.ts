/** A device process with faulty kernels: each kills the process in its own way. */
import { Worker } from "node:worker_threads";
import type { KernelSpec } from "../../../kernels/kernel-spec.ts";
import { type Gpu, openGpu } from "../../../src/gpu-runner/devices/gpu/device.ts";
import { createGpuHandlers } from "../../../src/gpu-runner/device-program/gpu-handlers.ts";
import { serveCalls } from "../../../src/gpu-runner/device-program/serve-calls.ts";
import { faulty, ones } from "./faulty-kernel.ts";

/** Does it shortly after its first run, which follows the question for the reference: it is compiled by then. */
function inMidRun(act: () => void): KernelSpec<"n">["reference"] {
  return (_, { n }) => {
    setTimeout(act, 100);
    return ones(n);
  };
}

/** Leaks buffers like a caller that lost count: none is destroyed, and the collector frees none. */
function leakBuffers({ device }: Gpu, count: number): void {
  for (let i = 0; i < count; i++) {
    const buffer = device.createBuffer({ size: 256, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST });
    device.queue.writeBuffer(buffer, 0, new Uint8Array(256));
  }
}

/** A worker thread that owns a device is ended while it waits for a map. */
function endWorkerWithPendingMap(): void {
  const worker = new Worker(new URL("pending-map.mjs", import.meta.url));
  worker.once("message", () => void worker.terminate());
}

function listKernels(gpu: Gpu): KernelSpec[] {
  const nan: Partial<KernelSpec<"n">> = {
    bindings: [
      { name: "source", access: "read", dtype: "float32", extents: ({ n }) => [n], alignment: [1] },
      { name: "values", access: "write", dtype: "float32", extents: ({ n }) => [n], alignment: [1] },
    ],
    generate: ({ n }) => ({ source: new Float32Array(n).fill(Number.NaN) }),
    reference: (_, { n }) => ({ output: "values", length: n, elementFlops: 1, element: () => Number.NaN }),
  };
  const leaking = (): Record<string, never> => {
    leakBuffers(gpu, 10_000);
    return {};
  };
  const crash = () => process.kill(process.pid, "SIGSEGV");
  const destroy = () => gpu.device.destroy();
  return [
    faulty("ones", "ones.wgsl"),
    faulty("not-twos", "ones.wgsl", { reference: (_, { n }) => ({ ...ones(n), element: () => 2 }) }),
    faulty("endless", "endless.wgsl"),
    // Under the name of a kernel that the CPU has a reference of.
    faulty("triad", "endless.wgsl"),
    faulty("invalid", "does-not-compile.wgsl"),
    faulty("wants-more", "wants-more.wgsl"),
    faulty("nan", "copies.wgsl", nan),
    faulty("ten-thousand-buffers", "ones.wgsl", { generate: leaking }),
    faulty("destroys", "ones.wgsl", { reference: inMidRun(destroy) }),
    faulty("destroys-behind-hang", "endless.wgsl", { reference: inMidRun(destroy) }),
    faulty("crashes", "ones.wgsl", { reference: inMidRun(crash) }),
    faulty("crashes-at-once", "ones.wgsl", { generate: () => (crash(), {}) }),
    faulty("pending-map", "ones.wgsl", { reference: inMidRun(endWorkerWithPendingMap) }),
  ] as KernelSpec[];
}

serveCalls(async ({ die, noteUsed }) => {
  const gpu = await openGpu((reason) => die(`the device was lost: ${reason}`));
  const kernels = new Map(listKernels(gpu).map((kernel) => [kernel.name, kernel]));
  const handlers = createGpuHandlers(gpu, { kernels, onUsed: noteUsed });
  return {
    ...handlers,
    warm: async (input, context) => {
      await handlers.warm(input, context);
      // The test reads it in the log.
      console.log("warmed", ...input.pipelines.map(({ kernel }) => kernel));
      return null;
    },
  };
});
