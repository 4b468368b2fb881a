import { readFile } from "node:fs/promises";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import type { KernelContext } from "../../kernels/dispatch/dispatch.ts";
import { withErrorScopes } from "../../devices/gpu/error-scopes.ts";
import { compileModule } from "../../devices/gpu/kernel-loader.ts";
import { readPieces } from "../../devices/gpu/readback.ts";
import { shareCoreUntil } from "../../devices/gpu/wait-for-gpu.ts";

const FOLDER = new URL("../../../../kernels/device-claims/", import.meta.url);

export interface ClaimKernel {
  readonly file: string;
  readonly constants?: Readonly<Record<string, number>>;
  readonly groups?: readonly [number, number, number];
  /** 32-bit words at binding 0, zeros before the run. */
  readonly foundWords: number;
  /** Contents of binding 1, where the kernel has one. */
  readonly given?: Uint32Array<ArrayBuffer> | Float32Array<ArrayBuffer> | GPUBuffer;
}

/**
 * Runs a kernel of `kernels/device-claims` once and returns binding 0.
 * Fails with `kernel-invalid`, `out-of-memory` or `backend-failed` where the device cannot run it.
 */
export async function runClaimKernel(context: KernelContext, kernel: ClaimKernel): Promise<ArrayBuffer> {
  const { device, pool } = context;
  const { file, constants = {}, groups = [1, 1, 1], foundWords, given } = kernel;
  return withErrorScopes(device, async () => {
    const module = await compileModule(device, `device-claims/${file}`, await readFile(new URL(file, FOLDER), "utf8"));
    const compute = { module, entryPoint: "main", constants: { ...constants } };
    const pipeline = await shareCoreUntil(device.createComputePipelineAsync({ layout: "auto", compute })).catch(
      (error: Error) => Promise.reject(new ProblemError("kernel-invalid", error.message)),
    );
    const { STORAGE, COPY_SRC, COPY_DST } = GPUBufferUsage;
    const sizeBytes = 4 * foundWords;
    const found = pool.acquire(sizeBytes, STORAGE | COPY_SRC | COPY_DST);
    const own = ArrayBuffer.isView(given) ? pool.acquire(given.byteLength, STORAGE | COPY_DST) : null;
    try {
      if (ArrayBuffer.isView(given)) device.queue.writeBuffer(own!, 0, given);
      const buffers = [
        { buffer: found, size: sizeBytes },
        ...(ArrayBuffer.isView(given) ? [{ buffer: own!, size: given.byteLength }] : []),
        ...(given === undefined || ArrayBuffer.isView(given) ? [] : [{ buffer: given }]),
      ];
      const entries = buffers.map((resource, binding) => ({ binding, resource }));
      const encoder = device.createCommandEncoder();
      encoder.clearBuffer(found);
      const pass = encoder.beginComputePass();
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }));
      pass.dispatchWorkgroups(...groups);
      pass.end();
      return await readPieces(device, pool, [{ buffer: found, sizeBytes }], { encoder, expectedMs: 0 });
    } finally {
      for (const buffer of [found, own]) if (buffer !== null) pool.discard(buffer);
    }
  });
}
