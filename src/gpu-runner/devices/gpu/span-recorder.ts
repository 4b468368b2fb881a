import type { BenchmarkCounters } from "../../../protocol/jobs/benchmark.ts";
import type { Ticks } from "./timer.ts";

/** Span on the runner's monotonic clock, in milliseconds of `performance.now()`. */
export interface Span {
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  /** Index of its run within the phase. */
  readonly run?: number;
}

/** Compute pass on the GPU's own clock in nanoseconds, with the time of its submission by the runner. */
export interface GpuSpan extends Ticks {
  readonly run: number;
  readonly submittedMs: number;
}

/** Ends of the steps of one run, in milliseconds of `performance.now()`. */
export interface RunTimes {
  readonly startMs: number;
  readonly submittedMs: number;
  readonly doneMs: number;
  /** Arrival of its timestamps; without them, its end. */
  readonly readMs: number;
  readonly ticks: Ticks | null;
}

/** Data of a profile. */
export interface Recording {
  readonly startedAt: string;
  readonly startMs: number;
  readonly spans: readonly Span[];
  readonly gpuSpans: readonly GpuSpan[];
  readonly samples: readonly { readonly atMs: number; readonly counters: BenchmarkCounters }[];
}

/** Records events while a benchmark is profiled. */
export class SpanRecorder implements Recording {
  readonly startedAt = new Date().toISOString();
  readonly startMs = performance.now();
  readonly spans: Span[] = [];
  readonly gpuSpans: GpuSpan[] = [];
  readonly samples: { atMs: number; counters: BenchmarkCounters }[] = [];

  /**
   * Adds a run of a kernel with its steps: `queue` is encoding and submission, `compute` lasts until the queue is
   * empty.
   */
  addRun(run: number, { startMs, submittedMs, doneMs, readMs, ticks }: RunTimes): void {
    this.spans.push(
      { name: "run", startMs, endMs: readMs, run },
      { name: "queue", startMs, endMs: submittedMs, run },
      { name: "compute", startMs: submittedMs, endMs: doneMs, run },
    );
    if (ticks === null) return;
    this.spans.push({ name: "readback", startMs: doneMs, endMs: readMs, run });
    this.gpuSpans.push({ run, submittedMs, ...ticks });
  }

  sample(counters: BenchmarkCounters): void {
    this.samples.push({ atMs: performance.now(), counters });
  }
}

/** Runs a piece of work, and records it under a name where there is a recorder. */
export async function recordSpan<Result>(
  recorder: SpanRecorder | undefined,
  name: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const startMs = performance.now();
  try {
    return await work();
  } finally {
    recorder?.spans.push({ name, startMs, endMs: performance.now() });
  }
}
