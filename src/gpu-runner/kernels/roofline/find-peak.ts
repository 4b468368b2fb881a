import type { AxisValues, KernelArrays, KernelShape, KernelSpec } from "../../../../kernels/kernel-spec.ts";
import type { Peak } from "../../../protocol/fleet/roofline.ts";
import { countElements } from "../../../protocol/wire/tensor.ts";
import { median } from "../../../stats/distribution/summary.ts";
import { assertWanted } from "../../devices/progress.ts";
import type { BenchmarkDevice } from "../benchmark/benchmark-kernel.ts";
import { isBeyondMemory, withErrorScopes } from "../../devices/gpu/error-scopes.ts";
import { checkOutputs } from "../benchmark/check-output.ts";
import { chooseClock, measureKernel } from "../benchmark/measure-kernel.ts";
import { freeIdle, prepareKernel } from "../dispatch/dispatch.ts";
import { bindableBytes, createLike, sizeBindings } from "../dispatch/padded-layout.ts";
import type { KernelChoice } from "../dispatch/resolve-benchmark.ts";
import { GpuTimer } from "../../devices/gpu/timer.ts";
import { shareCoreUntil } from "../../devices/gpu/wait-for-gpu.ts";

/** Search for one peak: the kernel, its sizes in ascending order, and the settings to compare. */
export interface PeakSearch {
  readonly kernel: KernelSpec;
  /** From a size that takes almost no time on any device to the largest that is worthwhile. */
  readonly shapes: readonly [KernelShape, ...KernelShape[]];
  readonly axes: readonly AxisValues[];
  /** Run time from which larger sizes are not tried. */
  readonly longEnoughMs: number;
  /** Billions of operations or bytes. */
  work(shape: KernelShape): number;
}

/** Number of runs of the best setting at its final size, and their least number after the deadline. */
const ROUNDS = 5;
const LEAST_ROUNDS = 3;
const SEED = 1;

/** Kernel with one setting at one size, ready to run. */
interface Trial {
  readonly choice: KernelChoice;
  /** One run, on the clock that can be trusted for its length. */
  run(): Promise<{ ms: number; clock: Peak["clock"] }>;
  /** Compares the outputs of a run with the reference. */
  check(): Promise<void>;
  close(): void;
  /** Time of its preparation. */
  readonly openMs: number;
}

type Open = (choice: KernelChoice) => Promise<Trial>;

/**
 * Grows the size with the kernel's first setting in half of the time, then compares the other settings at the last size
 * in the remaining time. The result is the median of several rounds with the best. Each setting is checked against the
 * reference at the smallest size before it is timed. A size or setting that does not fit the device is skipped. After
 * the deadline, the first setting is still measured at the smallest size. `deadlineMs` is on the clock of
 * `performance.now()`. Fails with `kernel-invalid`, `kernel-incorrect` or `out-of-memory` where the device cannot run
 * the kernel, and with `cancelled`.
 */
export async function findPeak(
  target: BenchmarkDevice,
  search: PeakSearch,
  deadlineMs: number,
  signal: AbortSignal,
): Promise<Peak> {
  const { kernel, axes, shapes } = search;
  const timer = target.device.features.has("timestamp-query") ? new GpuTimer(target.device, target.pool) : null;
  const opened = new Set<Trial>();
  const inputs = kernel.generate(shapes[0], SEED);
  const open: Open = async (choice) => {
    const trial = await openTrial(target, choice, inputs, timer, signal, () => opened.delete(trial));
    opened.add(trial);
    return trial;
  };
  const settings = kernel.variants.flatMap((variant) => axes.map((each) => ({ kernel, variant, axes: each })));
  try {
    const [first, ...others] = settings.map((setting) => ({ ...setting, shape: shapes[0] }));
    const halfTimeMs = (performance.now() + deadlineMs) / 2;
    const reached = await climb(target, search, await openChecked(open, first!), halfTimeMs, open);
    return await measurePeak(await chooseFastest(reached, others, deadlineMs, open), search, deadlineMs);
  } finally {
    for (const trial of opened) trial.close();
    timer?.destroy();
  }
}

async function openTrial(
  target: BenchmarkDevice,
  choice: KernelChoice,
  small: KernelArrays,
  timer: GpuTimer | null,
  signal: AbortSignal,
  onClose: () => void,
): Promise<Trial> {
  const { device, description } = target;
  const { kernel, shape } = choice;
  const startedAt = performance.now();
  const inputs = stretch(kernel, small, shape);
  const prepared = await prepareKernel(target, choice, inputs);
  await shareCoreUntil(device.queue.onSubmittedWorkDone());
  const run: Trial["run"] = async () => {
    assertWanted(signal);
    const { gpuMs, wallMs } = await withErrorScopes(device, () => measureKernel(device, prepared, timer, 1, () => {}));
    const clock = chooseClock(description, gpuMs?.[0] ?? null);
    return { ms: (clock === "gpu-timestamp" ? gpuMs?.[0] : null) ?? wallMs[0]!, clock };
  };
  return {
    choice,
    run,
    async check() {
      await run();
      const reference = kernel.reference(inputs, shape);
      const output = await withErrorScopes(device, () => prepared.read(reference.output));
      await checkOutputs([output], [reference], kernel.tolerance, shape, SEED, () => {});
    },
    close() {
      onClose();
      prepared.release();
    },
    openMs: performance.now() - startedAt,
  };
}

async function openChecked(open: Open, choice: KernelChoice): Promise<Trial> {
  const trial = await open(choice);
  await trial.check();
  return trial;
}

/** Opens a trial and runs it once. */
async function openRun(open: Open, choice: KernelChoice): Promise<Trial> {
  const trial = await open(choice);
  try {
    await trial.run();
    return trial;
  } catch (error) {
    trial.close();
    throw error;
  }
}

/** Null where a size does not fit the device; the kernel itself was correct at a smaller one. */
function openIfRoom(open: Open, choice: KernelChoice): Promise<Trial | null> {
  return openRun(open, choice).catch((error: unknown) => {
    if (!isBeyondMemory(error)) throw error;
    return null;
  });
}

/** Runs the same setting at the largest size that time and memory allow. */
async function climb(
  target: BenchmarkDevice,
  search: PeakSearch,
  first: Trial,
  deadlineMs: number,
  open: Open,
): Promise<Trial> {
  let trial = first;
  for (const shape of search.shapes.slice(1)) {
    const { ms } = await trial.run();
    const expectedMs = (trial.openMs + 2 * ms) * (search.work(shape) / search.work(trial.choice.shape));
    const isLate = performance.now() + expectedMs > deadlineMs;
    if (ms >= search.longEnoughMs || isLate || !fits(target, search.kernel, shape)) break;
    const { choice } = trial;
    trial.close();
    const larger = await openIfRoom(open, { ...choice, shape });
    if (larger === null) {
      // The previous size fits again once the driver has its memory back.
      await freeIdle(target);
      return openRun(open, choice);
    }
    trial = larger;
  }
  return trial;
}

/** Fastest of all settings at the size that the first one reached. */
async function chooseFastest(
  first: Trial,
  others: readonly KernelChoice[],
  deadlineMs: number,
  open: Open,
): Promise<Trial> {
  const { shape } = first.choice;
  let best = { trial: first, ms: (await first.run()).ms };
  for (const choice of others) {
    if (performance.now() + 2 * first.openMs + (ROUNDS + 3) * best.ms > deadlineMs) break;
    (await openChecked(open, choice)).close();
    const trial = await openIfRoom(open, { ...choice, shape });
    if (trial === null) continue;
    const { ms } = await trial.run();
    if (ms < best.ms) {
      best.trial.close();
      best = { trial, ms };
    } else trial.close();
  }
  return best.trial;
}

/** Usable share of the device's budget; the rest covers the rounding up of size classes. */
const USABLE_SHARE = 0.9;

function fits({ device: { limits }, pool }: BenchmarkDevice, kernel: KernelSpec, shape: KernelShape): boolean {
  const sizes = sizeBindings(kernel, shape);
  const totalBytes = sizes.reduce((total, sizeBytes) => total + sizeBytes, 0);
  return sizes.every((sizeBytes) => sizeBytes <= bindableBytes(limits)) && totalBytes <= USABLE_SHARE * pool.capBytes;
}

/** Inputs for a larger size, by repetition: generating them would take most of the time. */
function stretch(kernel: KernelSpec, inputs: KernelArrays, shape: KernelShape): KernelArrays {
  return Object.fromEntries(
    kernel.bindings
      .filter(({ access }) => access === "read")
      .map((binding) => {
        const values = inputs[binding.name]!;
        const length = countElements(binding.extents(shape));
        const longer = createLike(values, length);
        longer.set(values.subarray(0, length));
        for (let filled = values.length; filled < length; filled *= 2) longer.copyWithin(filled, 0, filled);
        return [binding.name, longer];
      }),
  );
}

async function measurePeak(trial: Trial, search: PeakSearch, deadlineMs: number): Promise<Peak> {
  const { kernel, variant, axes, shape } = trial.choice;
  const rates: Pick<Peak, "value" | "clock">[] = [];
  while (rates.length < LEAST_ROUNDS || (rates.length < ROUNDS && performance.now() < deadlineMs)) {
    const { ms, clock } = await trial.run();
    rates.push({ value: (search.work(shape) / ms) * 1e3, clock });
  }
  const sorted = rates.toSorted((a, b) => a.value - b.value);
  return {
    value: median(rates.map(({ value }) => value)),
    clock: sorted[Math.floor(sorted.length / 2)]!.clock,
    kernel: kernel.name,
    variant: variant.name,
    axes: { ...axes },
    shape: { ...shape },
    rounds: sorted.length,
    min: sorted[0]!.value,
    max: sorted.at(-1)!.value,
  };
}
