import { VERSION } from "../../protocol/wire/release.ts";
import { sendSpans, SpanQueue, type SpanTarget } from "../../telemetry/send-spans.ts";
import type { SpanScope } from "../../telemetry/span.ts";
import type { TraceContext } from "../../telemetry/trace-context.ts";
import { configOf, type Env } from "../config.ts";

const QUEUED_SPANS = 4_096;
/** Spans within this time go out together. */
const FLUSH_AFTER_MS = 500;
/** A flush that has not ended by then was cut off with its request; the next one takes over. */
const OVERDUE_MS = 30_000;

const RESOURCE = { "service.name": "millrace-edge", "service.version": VERSION };

/** Spans that this isolate has not sent yet. */
const queue = new SpanQueue(QUEUED_SPANS);
let flushingSinceMs: number | null = null;

/**
 * Scope of spans within `context`, which go to the collector after the reply. Null without a collector or where the
 * trace is not sampled.
 * Times come from the Worker's clock, which does not advance while it computes.
 */
export function openScope(
  env: Env,
  context: TraceContext | null,
  waitUntil: (work: Promise<unknown>) => void,
): SpanScope | null {
  const { tracing } = configOf(env);
  if (tracing === null || context?.sampled !== true) return null;
  const now = () => Date.now();
  return {
    context,
    now,
    add: (span) => {
      queue.add({ ...span, attributes: { ...span.attributes, "millrace.clock": "edge-wall" } });
      const nowMs = now();
      if (flushingSinceMs !== null && nowMs - flushingSinceMs < OVERDUE_MS) return;
      flushingSinceMs = nowMs;
      waitUntil(flushLater(tracing));
    },
  };
}

async function flushLater(target: SpanTarget): Promise<void> {
  await scheduler.wait(FLUSH_AFTER_MS);
  const before = queue.dropped;
  await sendSpans(queue, target, RESOURCE);
  flushingSinceMs = null;
  const count = queue.dropped - before;
  if (count > 0) console.error(JSON.stringify({ event: "spans-dropped", count }));
}
