/** Preloaded into a Node process: appends each collection to the file that the query names, as a line of JSON. */
import { appendFileSync } from "node:fs";
import { PerformanceObserver } from "node:perf_hooks";

const to = new URL(import.meta.url).searchParams.get("to") ?? "";

new PerformanceObserver((list) => {
  const lines = list.getEntries().map(({ startTime, duration }) => {
    const fromMs = performance.timeOrigin + startTime;
    return `${JSON.stringify({ fromMs, toMs: fromMs + duration })}\n`;
  });
  appendFileSync(to, lines.join(""));
}).observe({ entryTypes: ["gc"] });
