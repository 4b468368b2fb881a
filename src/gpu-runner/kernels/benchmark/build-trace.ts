import type { BenchmarkCounters, Trace, TraceEvent, TraceSummary } from "../../../protocol/jobs/benchmark.ts";
import type { GpuSpan, Recording } from "../../devices/gpu/span-recorder.ts";

const PID = 1;
/** The two clocks have separate tracks. */
const WALL_TRACK = 1;
const GPU_TRACK = 2;

const ALIGNMENT =
  "Spans on gpu-timestamp keep the GPU's own distances; all are moved by one offset, the least by which none begins before the runner submitted it.";

/** Upper bound of the bytes around the events. */
const FRAME_BYTES = 1024;

/**
 * Turns a recording into a trace of at most `maxBytes` as JSON. Events that begin first are dropped first; names stay,
 * and `droppedEvents` counts the loss.
 */
export function buildTrace(
  recording: Recording,
  deviceName: string,
  maxBytes: number,
): { text: string; summary: TraceSummary } {
  const names = [
    nameTrack("process_name", WALL_TRACK, deviceName),
    nameTrack("thread_name", WALL_TRACK, "runner (runner-wall)"),
    nameTrack("thread_name", GPU_TRACK, "GPU (gpu-timestamp)"),
  ];
  const events = [...listSpans(recording), ...listGpuSpans(recording), ...listCounters(recording)];
  const kept = keepNewest(events, maxBytes - FRAME_BYTES - byteLength(names));
  const traceEvents = [...names, ...kept];
  const droppedEvents = events.length - kept.length;
  const otherData = { startedAt: recording.startedAt, droppedEvents, alignment: ALIGNMENT };
  const trace: Trace = { traceEvents, displayTimeUnit: "ms", otherData };
  const text = JSON.stringify(trace);
  return { text, summary: { events: traceEvents.length, droppedEvents, sizeBytes: Buffer.byteLength(text) } };
}

function nameTrack(name: "process_name" | "thread_name", tid: number, text: string): TraceEvent {
  return { ph: "M", name, pid: PID, tid, args: { name: text } };
}

type TimedEvent = Exclude<TraceEvent, { ph: "M" }>;

function listSpans({ spans, startMs }: Recording): TimedEvent[] {
  return spans.map((span) => ({
    ph: "X",
    name: span.name,
    cat: "runner",
    ts: (span.startMs - startMs) * 1e3,
    dur: (span.endMs - span.startMs) * 1e3,
    pid: PID,
    tid: WALL_TRACK,
    args: { clock: "runner-wall", ...(span.run !== undefined && { run: span.run }) },
  }));
}

function listGpuSpans({ gpuSpans, startMs }: Recording): TimedEvent[] {
  const originNs = gpuSpans[0]?.beginNs ?? 0n;
  const offsetMs = alignGpuClock(gpuSpans, originNs);
  return gpuSpans.map(({ run, beginNs, endNs }) => ({
    ph: "X",
    name: "compute",
    cat: "gpu",
    ts: (offsetMs - startMs) * 1e3 + Number(beginNs - originNs) / 1e3,
    dur: Number(endNs - beginNs) / 1e3,
    pid: PID,
    tid: GPU_TRACK,
    args: { clock: "gpu-timestamp", run },
  }));
}

/** Position of the GPU's `originNs` on the runner's clock, in milliseconds: no pass begins before its submission. */
function alignGpuClock(gpuSpans: readonly GpuSpan[], originNs: bigint): number {
  return gpuSpans.reduce(
    (latestMs, { submittedMs, beginNs }) => Math.max(latestMs, submittedMs - Number(beginNs - originNs) / 1e6),
    Number.NEGATIVE_INFINITY,
  );
}

function listCounters({ samples, startMs }: Recording): TimedEvent[] {
  return samples.flatMap(({ atMs, counters }) =>
    Object.entries(groupCounters(counters)).map(([name, args]): TimedEvent => ({
      ph: "C",
      name,
      ts: (atMs - startMs) * 1e3,
      pid: PID,
      tid: WALL_TRACK,
      args,
    })),
  );
}

/** One track each: values on one track share a scale. */
function groupCounters(counters: BenchmarkCounters): Record<string, Record<string, number>> {
  const { dispatches, uploadedBytes, readBackBytes, liveBytes, compileMs } = counters;
  return {
    dispatches: { dispatches },
    bytes: { uploadedBytes, readBackBytes },
    "buffer pool": { buffersCreated: counters.buffersCreated, buffersReused: counters.buffersReused },
    "buffer pool bytes": { liveBytes },
    "pipeline cache": { pipelineHits: counters.pipelineHits, pipelineMisses: counters.pipelineMisses },
    "compile time": { compileMs },
  };
}

/** Latest events that fit, in order of their start. Of two that start together, the longer encloses the other. */
function keepNewest(events: readonly TimedEvent[], maxBytes: number): TimedEvent[] {
  const durationOf = (event: TimedEvent) => (event.ph === "X" ? event.dur : 0);
  const ordered = events.toSorted((a, b) => a.ts - b.ts || durationOf(b) - durationOf(a));
  let leftBytes = maxBytes;
  let first = ordered.length;
  while (first > 0) {
    leftBytes -= byteLength(ordered[first - 1]) + 1;
    if (leftBytes < 0) break;
    first--;
  }
  return ordered.slice(first);
}

function byteLength(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
