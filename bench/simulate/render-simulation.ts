import type { SimulationResult } from "./summarise-simulation.ts";

/** Cloudflare's published limit of one Durable Object, in requests per second; see docs/scale.md. */
const OBJECT_LIMIT = 1_000;

/** Renders a result for people: the fleet's results, and the load of the busiest objects. */
export function renderSimulation(load: number, result: SimulationResult): string {
  const { results, latencyMs, fairness, platform, queue } = result;
  const all = Object.values(results).reduce((sum, count) => sum + count, 0);
  const lost = Object.entries(results).filter(([name]) => name !== "answered");
  const bySpeed = Object.entries(result.utilisationBySpeed).map(([speed, share]) => `${speed} ${percent(share)}`);
  const lines: [string, string][] = [
    [
      "offered",
      `${whole(result.offeredPerSecond)} a second (${load}×) for ${result.seconds} s on ${result.runners} runners`,
    ],
    ["goodput", `${whole(result.goodputPerSecond)} a second, ${percent(result.goodputShare)} of what was offered`],
    ["not in budget", lost.map(([name, count]) => `${name} ${percent(count / all)}`).join(", ") || "none"],
    ["latency", latencyMs === null ? "none" : `p50 ${latencyMs.p50.toFixed(1)} ms, p99 ${latencyMs.p99.toFixed(1)} ms`],
    ["retried elsewhere", percent(result.retried / all)],
    ["devices at work", `${percent(result.utilisation)} of the time: ${bySpeed.join(", ")}`],
    ["fairness (Jain)", `tenants ${fairness.tenants.toFixed(4)}, runners of one speed ${fairness.runners.toFixed(4)}`],
    [
      "busiest link",
      `${whole(platform.link.busiestPerSecond)} requests a second, ${whole(platform.link.peakPerSecond)} in its busiest; ${ofLimit(platform.link.peakPerSecond)}`,
    ],
    [
      "all links",
      `${whole(platform.link.allPerSecond)} a second: requests ${whole(platform.linkRequestsPerSecond)}, outcomes handed over ${whole(platform.linkRecordsPerSecond)}`,
    ],
    [
      "queue object",
      `${whole(platform.queue.busiestPerSecond)} calls a second (${ofLimit(platform.queue.busiestPerSecond)}): heartbeats ${whole(platform.heartbeatsPerSecond)}, news of history ${whole(platform.announcesPerSecond)}; at work ${percent(queue.busyShare)}, longest wait ${whole(queue.longestBacklogMs)} ms`,
    ],
    [
      "jobs",
      `${queue.submitted} submitted, ${queue.succeeded} succeeded, ${queue.failed} failed, ${queue.refused} refused, ${queue.open} open; ${queue.leases} leases, ${queue.expired} ran out, ${queue.late} outcomes too late`,
    ],
    [
      "D1",
      `${whole(platform.databaseRowsWrittenPerSecond)} rows written and ${whole(platform.databaseRowsReadPerSecond)} read a second, ${whole(platform.databaseQueriesPerSecond)} queries`,
    ],
    ["objects' SQLite", `${whole(platform.objectRowsWrittenPerSecond)} rows written a second`],
  ];
  return lines.map(([name, value]) => `${name.padEnd(18)} ${value}`).join("\n");
}

function ofLimit(perSecond: number): string {
  return `${percent(perSecond / OBJECT_LIMIT)} of the ${whole(OBJECT_LIMIT)} that an object takes`;
}

function whole(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString("en-GB") : String(Number(value.toPrecision(3)));
}

function percent(share: number): string {
  return `${Number((100 * share).toPrecision(4))} %`;
}
