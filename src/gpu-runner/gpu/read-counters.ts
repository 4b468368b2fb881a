import type { BenchmarkCounters } from "../../protocol/counters.ts";
import type { KernelContext } from "./dispatch.ts";

/** A device's counters since it was opened. */
export function readCounters({ traffic, pool, pipelines }: KernelContext): BenchmarkCounters {
  return {
    dispatches: traffic?.dispatches ?? 0,
    uploadedBytes: traffic?.uploadedBytes ?? 0,
    readBackBytes: traffic?.readBackBytes ?? 0,
    buffersCreated: pool.counters.created,
    buffersReused: pool.counters.reused,
    liveBytes: pool.counters.liveBytes,
    pipelineHits: pipelines.counters.hits,
    pipelineMisses: pipelines.counters.misses,
    compileMs: pipelines.counters.compileMs,
  };
}

/** What was counted between two readings; bytes in use are those of the later one. */
export function subtractCounters(later: BenchmarkCounters, earlier: BenchmarkCounters): BenchmarkCounters {
  const names = Object.keys(later) as (keyof BenchmarkCounters)[];
  const differences = Object.fromEntries(names.map((name) => [name, later[name] - earlier[name]]));
  return { ...(differences as BenchmarkCounters), liveBytes: later.liveBytes };
}
