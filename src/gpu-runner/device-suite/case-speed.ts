import type { KernelShape } from "../../../kernels/kernel-spec.ts";
import type { Roofline } from "../../protocol/fleet/roofline.ts";
import { BenchmarkSpec } from "../../protocol/jobs/benchmark.ts";
import { KernelTuningSpec } from "../../protocol/jobs/tuning.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import type { DeviceHost } from "../device-host/device-host.ts";
import type { BenchmarkMeasurement } from "../kernels/benchmark/benchmark-kernel.ts";
import type { TuningMeasurement } from "../kernels/tuning/tune-kernel.ts";
import { fitShape, predictMs, type SpeedCase } from "./speed-cases.ts";

const ROOFS_MS = 12_000;
const ROOFS_LIMIT_MS = 60_000;
const TUNING_MS = 4_000;
const MOST_PREPARATION_MS = 3_000;
/** With the reference, the upload and the last candidate's compilation. */
const TUNING_LIMIT_MS = 30_000;
const RUN_LIMIT_MS = 30_000;
/** Expected time of a run where nothing is known of the device. */
const UNKNOWN_MS = 1;

/** A size as it is measured on a device. */
export interface SizedCase {
  readonly kernel: string;
  readonly shape: KernelShape;
  /** Time of one run at the roofs, in milliseconds. */
  readonly predictedMs: number;
}

/** The fastest choice that the tuner found, checked and timed by a benchmark of its own. */
export interface TunedSpeed {
  readonly measured: BenchmarkMeasurement;
  readonly tuning: TuningMeasurement["tuning"];
  /** Candidates that the search compiled, checked and timed. */
  readonly tried: number;
}

/**
 * Speeds of one device, each measured once: its roofs, and every case by the default choice and tuned. Every choice is
 * compared with the f64 reference at its own size before it is timed; of a large output a seeded sample is compared.
 * After a failed case the next caller tries again.
 */
export class CaseSpeeds {
  static readonly #ofHosts = new WeakMap<DeviceHost, CaseSpeeds>();
  readonly #host: DeviceHost;
  readonly #known = new Map<string, Promise<unknown>>();
  /** Time of a default's benchmark besides its timed runs. */
  readonly #preparationMs = new Map<string, number>();

  private constructor(host: DeviceHost) {
    this.#host = host;
  }

  /** Those of a device's process, shared by all parts of a suite. */
  static of(host: DeviceHost): CaseSpeeds {
    const known = CaseSpeeds.#ofHosts.get(host) ?? new CaseSpeeds(host);
    CaseSpeeds.#ofHosts.set(host, known);
    return known;
  }

  /** The measured roofs; a failure stands, like a result. Fails like `measureRoofline`. */
  async roofs(signal: AbortSignal): Promise<Roofline> {
    const measure = () => this.#host.work("measureRoofline", { budgetMs: ROOFS_MS }, ROOFS_LIMIT_MS, { signal });
    const known = await this.#once("roofs", () => orProblem(measure()));
    if (known instanceof ProblemError) throw known;
    return known;
  }

  /** The measured roofs, or null where they cannot be measured. Fails with `cancelled`. */
  async roofsOrNull(signal: AbortSignal): Promise<Roofline | null> {
    return this.roofs(signal).catch((error: unknown) => {
      if (signal.aborted) throw error;
      return null;
    });
  }

  /** A case at the size for this device. */
  async size(speedCase: SpeedCase, signal: AbortSignal): Promise<SizedCase> {
    const roofs = await this.roofsOrNull(signal);
    const { kernel } = speedCase;
    if (roofs === null) return { kernel, shape: speedCase.shape, predictedMs: UNKNOWN_MS };
    const shape = fitShape(speedCase, roofs);
    return { kernel, shape, predictedMs: predictMs(kernel, shape, roofs) };
  }

  /** Speed of the default choice. Fails like `benchmarkKernel`. */
  untuned(sized: SizedCase, signal: AbortSignal): Promise<BenchmarkMeasurement> {
    return this.#once(`untuned ${keyOf(sized)}`, async () => {
      const startedMs = performance.now();
      const measured = await this.#host.benchmark(specOf(sized), { signal });
      const runsMs = measured.samples.wallMs.reduce((sum, ms) => sum + ms, 0);
      this.#preparationMs.set(keyOf(sized), performance.now() - startedMs - runsMs);
      return measured;
    });
  }

  /**
   * Speed of what the tuner finds in four seconds beside its preparation: inputs, upload and reference, which a default
   * that was measured before took, too. Fails like `tuneKernel` or `benchmarkKernel`.
   */
  tuned(sized: SizedCase, signal: AbortSignal): Promise<TunedSpeed> {
    return this.#once(`tuned ${keyOf(sized)}`, async () => {
      const { kernel, shape } = sized;
      const budgetMs =
        TUNING_MS + Math.min(MOST_PREPARATION_MS, Math.round(this.#preparationMs.get(keyOf(sized)) ?? 0));
      const spec = KernelTuningSpec.parse({ kind: "tuning", kernel, shape, budgetMs });
      const { tuning, trials } = await this.#host.work("tune", { spec }, TUNING_LIMIT_MS, { signal });
      const { variant, axes } = tuning.best;
      const measured = await this.#host.benchmark({ ...specOf(sized), variant, axes }, { signal });
      const tried = trials.filter(({ rungsMs }) => rungsMs.length > 0).length;
      return { measured, tuning, tried };
    });
  }

  #once<Value>(key: string, measure: () => Promise<Value>): Promise<Value> {
    const known = this.#known.get(key) as Promise<Value> | undefined;
    if (known !== undefined) return known;
    const measuring = measure();
    this.#known.set(key, measuring);
    measuring.catch(() => this.#known.delete(key));
    return measuring;
  }
}

/** Median of a run on the clock that its rates come from. */
export function medianMs({ clock, gpuMs, wallMs }: BenchmarkMeasurement): number {
  return clock === "gpu-timestamp" && gpuMs !== null ? gpuMs.p50 : wallMs.p50;
}

/** The outcome, or the problem that a device has; an end from outside is neither. */
async function orProblem<Value>(work: Promise<Value>): Promise<Value | ProblemError> {
  return work.catch((error: unknown) => {
    if (!(error instanceof ProblemError) || error.problem.code === "cancelled") throw error;
    return error;
  });
}

function keyOf({ kernel, shape }: SizedCase): string {
  return JSON.stringify([kernel, shape]);
}

/** Time for the runs of one benchmark, about: our kernels reach a quarter of the roofs or more. */
const RUNS_MS = 400;
const SLOWDOWN = 4;

function specOf({ kernel, shape, predictedMs }: SizedCase): BenchmarkSpec {
  const iterations = Math.round(Math.min(100, Math.max(5, RUNS_MS / (SLOWDOWN * predictedMs))));
  const warmup = Math.ceil(iterations / 5);
  return BenchmarkSpec.parse({
    kind: "benchmark",
    kernel,
    shape,
    tuned: false,
    warmup,
    iterations,
    timeoutMs: RUN_LIMIT_MS,
  });
}
