import type { AxisValues, KernelShape } from "../../../../kernels/kernel-spec.ts";
import type { BenchmarkSpec } from "../../../protocol/jobs/benchmark.ts";
import type { Fault } from "../../../protocol/wire/fault.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import {
  type BenchmarkDevice,
  benchmarkKernel,
  type BenchmarkMeasurement,
  type BenchmarkOptions,
} from "./benchmark-kernel.ts";
import { freeIdle, listParts } from "../dispatch/dispatch.ts";
import { withErrorScopes } from "../../devices/gpu/error-scopes.ts";
import { bindableBytes, sizeBindings } from "../dispatch/padded-layout.ts";
import { type KernelChoice, resolveBenchmark } from "../dispatch/resolve-benchmark.ts";

/**
 * Like `benchmarkKernel`, with a fallback for too little memory: if allowed, half the batch is run, then half of that,
 * and a fault in the result reports it. Otherwise, or without a batch dimension, it fails with `out-of-memory`
 * (`kernel-invalid` beyond the device's limits) and names the batch that would fit.
 */
export async function benchmarkWithinMemory(
  target: BenchmarkDevice,
  spec: BenchmarkSpec,
  options: BenchmarkOptions,
): Promise<BenchmarkMeasurement> {
  let shape: KernelShape | null = null;
  for (;;) {
    const tried: BenchmarkSpec = shape === null ? spec : { ...spec, shape };
    try {
      const measured = await benchmarkKernel(target, tried, options);
      return shape === null ? measured : { ...measured, faults: [tellSmaller(target, spec, measured, options.axes)] };
    } catch (error) {
      // Rethrows errors other than those of memory, before any other check.
      const { code, detail } = toMemoryProblem(target, tried, options.axes, error);
      await freeIdle(target);
      const fitting = await findFitting(target, resolveBenchmark(target.kernels, tried, options.axes));
      if (fitting === null) throw new ProblemError(code, detail);
      if (spec.allowSmallerBatch !== true) {
        const errors = [{ pointer: `#/shape/${fitting.dimension}`, message: `${fitting.batch} would fit now` }];
        const advice = `With ${fitting.dimension} = ${fitting.batch} it would fit now.`;
        throw new ProblemError(code, `${detail}. ${advice}`, { errors });
      }
      shape = fitting.shape;
    }
  }
}

/** Part of an error that shows exhausted memory or exceeded device limits; rethrows any other error. */
function toMemoryProblem(target: BenchmarkDevice, spec: BenchmarkSpec, axes: AxisValues | undefined, error: unknown) {
  // V8's messages when the host's own memory is exhausted: "Array buffer allocation failed", "Invalid typed array
  // length".
  if (error instanceof RangeError && /allocation|array length/i.test(error.message)) {
    return { code: "out-of-memory", detail: "The runner has not the memory for the inputs" } as const;
  }
  if (!(error instanceof ProblemError)) throw error;
  const { code, detail } = error.problem;
  if (code === "out-of-memory") return { code, detail: firstLine(detail) } as const;
  if (code === "kernel-invalid" && !isBindable(target, resolveBenchmark(target.kernels, spec, axes))) {
    return { code, detail } as const;
  }
  throw error;
}

/**
 * Largest half, quarter, … of the batch whose buffers can be allocated now; null where none can, or without a batch.
 */
async function findFitting(
  target: BenchmarkDevice,
  choice: KernelChoice,
): Promise<{ dimension: string; batch: number; shape: KernelShape } | null> {
  const dimension = choice.kernel.batchDimension;
  if (dimension === undefined) return null;
  for (let batch = Math.floor((choice.shape[dimension] ?? 0) / 2); batch >= 1; batch = Math.floor(batch / 2)) {
    const shape = { ...choice.shape, [dimension]: batch };
    const smaller = { ...choice, shape };
    const total = sizesOf(target, smaller).reduce((sum, size) => sum + size, 0);
    if (total > target.pool.capBytes - target.pool.counters.liveBytes || !isBindable(target, smaller)) continue;
    if (await canAllocate(target, smaller)) return { dimension, batch, shape };
  }
  return null;
}

/** Bytes of all bindings of all parts. */
function sizesOf(target: BenchmarkDevice, choice: KernelChoice): number[] {
  return listParts(target, choice).flatMap(({ shape }) => sizeBindings(choice.kernel, shape));
}

function isBindable(target: BenchmarkDevice, choice: KernelChoice): boolean {
  return Math.max(...sizesOf(target, choice)) <= bindableBytes(target.limits ?? target.device.limits);
}

/** Copies of the largest buffer during transfers: staging, and on a software device the host's too. */
const COPIES = { software: 3, real: 1 } as const;

/** Allocates the buffers and those for transfers as a trial, then releases them. */
async function canAllocate(target: BenchmarkDevice, choice: KernelChoice): Promise<boolean> {
  const { device, description } = target;
  const sizes = sizesOf(target, choice);
  // An output of several parts is read back as one, if a single buffer can hold it.
  const largest = Math.min(Math.max(...sizeBindings(choice.kernel, choice.shape)), device.limits.maxBufferSize);
  const copies = Array.from({ length: COPIES[description.software ? "software" : "real"] }, () => largest);
  const buffers: GPUBuffer[] = [];
  try {
    await withErrorScopes(device, () => {
      for (const size of [...sizes, ...copies]) {
        buffers.push(device.createBuffer({ size, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC }));
      }
    });
    return true;
  } catch {
    return false;
  } finally {
    for (const buffer of buffers) buffer.destroy();
    await freeIdle(target);
  }
}

function tellSmaller(
  { kernels }: BenchmarkDevice,
  spec: BenchmarkSpec,
  { shape }: BenchmarkMeasurement,
  axes: AxisValues | undefined,
): Fault {
  const asked = resolveBenchmark(kernels, spec, axes);
  const dimension = asked.kernel.batchDimension ?? "";
  const detail = `${dimension} = ${asked.shape[dimension]} did not fit; ${shape[dimension]} was run`;
  return { code: "out-of-memory", detail, action: "smaller-batch" };
}

/** Dawn's messages continue with the place in its sources. */
function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? text;
}
