import type { BenchmarkCounters } from "../../../protocol/jobs/benchmark.ts";
import type { Ticks } from "./timer.ts";

/** A stretch of time on the runner's monotonic clock, in milliseconds of `performance.now()`. */
export interface Span {
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  /** Which of a phase's runs it belongs to. */
  readonly run?: number;
}

/** One compute pass on the GPU's own clock, in its nanoseconds, and when the runner submitted it. */
export interface GpuSpan extends Ticks {
  readonly run: number;
  readonly submittedMs: number;
}

/** When each step of one run ended, in milliseconds of `performance.now()`. */
export interface RunTimes {
  readonly startMs: number;
  readonly submittedMs: number;
  readonly doneMs: number;
  /** When its timestamps were here; without them, when it was done. */
  readonly readMs: number;
  readonly ticks: Ticks | null;
}

/** Everything that a profile is made of. */
export interface Recording {
  readonly startedAt: string;
  readonly startMs: number;
  readonly spans: readonly Span[];
  readonly gpuSpans: readonly GpuSpan[];
  readonly samples: readonly { readonly atMs: number; readonly counters: BenchmarkCounters }[];
}

/** Notes what happens while a benchmark is profiled. */
export class SpanRecorder implements Recording {
  readonly startedAt = new Date().toISOString();
  readonly startMs = performance.now();
  readonly spans: Span[] = [];
  readonly gpuSpans: GpuSpan[] = [];
  readonly samples: { atMs: number; counters: BenchmarkCounters }[] = [];

  /** One run of a kernel with its steps: `queue` is encoding and handing over, `compute` is until the queue is empty. */
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

/** Does a piece of work, noted under a name where somebody records. */
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
