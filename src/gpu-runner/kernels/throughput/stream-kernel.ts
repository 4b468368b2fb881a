import type { KernelArrays } from "../../../../kernels/kernel-spec.ts";
import type { ControlStep, ThroughputResult, ThroughputSpec } from "../../../protocol/jobs/throughput.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { summarise } from "../../../stats/distribution/distribution.ts";
import { assertWanted } from "../../devices/progress.ts";
import type { BenchmarkDevice, BenchmarkOptions } from "../benchmark/benchmark-kernel.ts";
import { isBeyondMemory, withErrorScopes } from "../../devices/gpu/error-scopes.ts";
import { busyShare, type PassSpan, type SlotAnswer, StagingRing } from "./staging-ring.ts";
import { checkOutputs } from "../benchmark/check-output.ts";
import { freeIdle } from "../dispatch/dispatch.ts";
import { type KernelChoice, resolveBenchmark } from "../dispatch/resolve-benchmark.ts";
import { limitGoal, type LoadGoal, type LoadSetting, startLoad, stepLoad } from "./utilisation.ts";

/** Result of a throughput job without the fields that only the runner around the device knows. */
export interface ThroughputMeasurement extends Omit<ThroughputResult, "kind" | "environment"> {
  /** Samples of `latencyMs`. */
  readonly latenciesMs: Float64Array;
}

/** Least answers in a control interval: fewer do not show the tail. */
const LEAST_ANSWERS = 3;

/** Observations of one stretch of the stream. */
interface Stretch {
  readonly answers: readonly Pick<SlotAnswer, "span" | "latencyMs">[];
  readonly durationMs: number;
}

/** Stream of one kernel at one batch: its ring, and the references of its answers. */
interface Stream {
  readonly choice: KernelChoice;
  readonly inputs: KernelArrays;
  readonly ring: StagingRing;
  readonly correctness: ThroughputResult["correctness"];
}

/**
 * Keeps the device busy with one kernel, each submission with upload and readback. A controller first looks for the
 * depth and batch that reach the goal; then that setting is measured. It grows no further than the device's memory.
 * Answers are checked against the f64 reference at every batch before its stream begins, and the last one again at the
 * end. Fails like `benchmarkKernel`.
 */
export async function streamKernel(
  target: BenchmarkDevice,
  spec: ThroughputSpec,
  options: Pick<BenchmarkOptions, "onProgress" | "signal">,
): Promise<ThroughputMeasurement> {
  const first = resolveBenchmark(target.kernels, spec);
  const batchDimension = first.kernel.dimensions.find(({ name }) => name === first.kernel.batchDimension);
  let goal: LoadGoal = {
    targetBusyShare: spec.targetBusyShare,
    latencyBudgetMs: spec.latencyBudgetMs ?? null,
    mode: spec.mode,
    maxDepth: spec.maxDepth,
    maxBatch: batchDimension?.max ?? 1,
  };
  const atBatch = (batch: number): KernelChoice =>
    batchDimension === undefined ? first : { ...first, shape: { ...first.shape, [batchDimension.name]: batch } };

  let state = startLoad({ depth: 1, batch: batchDimension === undefined ? 1 : first.shape[batchDimension.name]! });
  let stream = await openStream(target, atBatch(state.setting.batch), 1, spec.seed);
  const moveTo = async ({ depth, batch }: LoadSetting, from: LoadSetting): Promise<void> => {
    if (batch === from.batch) return stream.ring.resize(depth);
    await stream.ring.release();
    stream = await openStream(target, atBatch(batch), depth, spec.seed);
  };
  const steps: ControlStep[] = [];
  try {
    const startedAtMs = performance.now();
    const elapsedMs = () => performance.now() - startedAtMs;
    await runStretch(stream.ring, 1, spec.intervalMs, options.signal);
    while (elapsedMs() < spec.adaptMs && steps.length < LIMITS.controlSteps) {
      options.onProgress({ phase: "adapt", done: Math.floor(elapsedMs()), total: spec.adaptMs });
      const { setting } = state;
      const seen = observe(await runStretch(stream.ring, setting.depth, spec.intervalMs, options.signal));
      const decision = stepLoad(state, seen, goal);
      steps.push({ atMs: elapsedMs(), setting, ...seen, forecast: decision.forecast, move: decision.move });
      const next = decision.state.setting;
      try {
        await moveTo(next, setting);
        state = decision.state;
      } catch (error) {
        const grew = decision.move === "deepen" || decision.move === "widen";
        if (!grew || !isBeyondMemory(error)) throw error;
        goal = limitGoal(goal, setting, next);
        await freeIdle(target);
        await moveTo(setting, next);
      }
    }
    return await measure(target, stream, state.setting, spec, steps, options);
  } finally {
    await stream.ring.release();
  }
}

/** Prepares a stream, checks its first answer, and sets its depth. */
async function openStream(target: BenchmarkDevice, choice: KernelChoice, depth: number, seed: number): Promise<Stream> {
  const inputs = choice.kernel.generate(choice.shape, seed);
  const ring = new StagingRing(target, choice, inputs);
  try {
    await ring.resize(1);
    ring.fill();
    const answer = await withErrorScopes(target.device, () => ring.next());
    const correctness = await checkAnswer(choice, inputs, answer, seed);
    await ring.resize(depth);
    return { choice, inputs, ring, correctness };
  } catch (error) {
    await ring.release();
    throw error;
  }
}

function checkAnswer({ kernel, shape }: KernelChoice, inputs: KernelArrays, { outputs }: SlotAnswer, seed: number) {
  const reference = kernel.reference(inputs, shape);
  const references = [reference, ...(reference.others ?? [])];
  // Outputs of a slot are in the order of the bindings, references in their own.
  const names = kernel.bindings.filter(({ access }) => access === "write").map(({ name }) => name);
  const ordered = references.map(({ output }) => outputs[names.indexOf(output)]!);
  return checkOutputs(ordered, references, kernel.tolerance, shape, seed, () => {});
}

async function measure(
  target: BenchmarkDevice,
  { choice, inputs, ring, correctness }: Stream,
  setting: LoadSetting,
  spec: ThroughputSpec,
  steps: ControlStep[],
  { onProgress, signal }: Pick<BenchmarkOptions, "onProgress" | "signal">,
): Promise<ThroughputMeasurement> {
  onProgress({ phase: "measure", done: 0, total: spec.measureMs });
  const stretch = await withErrorScopes(target.device, () => runStretch(ring, setting.depth, spec.measureMs, signal));
  ring.fill();
  await checkAnswer(choice, inputs, await ring.next(), spec.seed);
  target.gpu.throwUncaptured();
  const { kernel, variant, shape } = choice;
  const perSecond = (1e3 * stretch.answers.length) / stretch.durationMs;
  const flops = kernel.flops(shape);
  const latenciesMs = Float64Array.from(stretch.answers, ({ latencyMs }) => latencyMs);
  return {
    kernel: kernel.name,
    variant: variant.name,
    shape: { ...shape },
    dtype: spec.dtype ?? kernel.dtypes[0],
    correctness,
    setting,
    steps,
    busyShare: observe(stretch).busyShare,
    clock: stretch.answers[0]?.span === null ? "runner-wall" : "gpu-timestamp",
    submissionsPerSecond: perSecond,
    itemsPerSecond: perSecond * setting.batch,
    gflops: flops === 0 ? null : (flops * perSecond) / 1e9,
    uploadedBytesPerSecond: perSecond * ring.bytes.upload,
    readBackBytesPerSecond: perSecond * ring.bytes.readBack,
    latencyMs: summarise(latenciesMs),
    latenciesMs,
  };
}

/** Keeps the ring full for this duration and at least a few answers. The last ones stay in flight. */
async function runStretch(ring: StagingRing, depth: number, durationMs: number, signal: AbortSignal): Promise<Stretch> {
  await ring.resize(depth);
  const answers: Stretch["answers"][number][] = [];
  const startedAtMs = performance.now();
  while (performance.now() - startedAtMs < durationMs || answers.length < LEAST_ANSWERS) {
    assertWanted(signal);
    ring.fill();
    const { span, latencyMs } = await ring.next();
    answers.push({ span, latencyMs });
  }
  return { answers, durationMs: performance.now() - startedAtMs };
}

/** Without timestamps the device counts as busy while anything is in flight, which is always. */
function observe({ answers }: Stretch): { busyShare: number; latencyMs: number } {
  const spans = answers.map(({ span }) => span).filter((span): span is PassSpan => span !== null);
  const latencyMs = summarise(answers.map((answer) => answer.latencyMs)).p99;
  if (spans.length === 0) return { busyShare: 1, latencyMs };
  // Runs from one pass's end to the last one's, so that the gap before the first counts.
  const [before, ...rest] = spans;
  return { busyShare: busyShare(rest, before!.endNs, spans.at(-1)!.endNs), latencyMs };
}
