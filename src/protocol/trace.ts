import { z } from "@hono/zod-openapi";
import { Clock } from "./distribution.ts";

const at = { pid: z.number().int(), tid: z.number().int() };
/** Microseconds since the trace began. */
const microseconds = z.number();

/** What a trace says of itself; a viewer shows `name` of a process and of its threads. */
const MetadataEvent = z.object({
  ph: z.literal("M"),
  name: z.enum(["process_name", "thread_name"]),
  ...at,
  args: z.object({ name: z.string() }),
});
/** A span: begin and duration on the clock that `args` names. */
const CompleteEvent = z.object({
  ph: z.literal("X"),
  name: z.string(),
  cat: z.string(),
  ts: microseconds,
  dur: microseconds.min(0),
  ...at,
  args: z.object({ clock: Clock, run: z.number().int().optional() }),
});
/** Counters as they stood at an instant. */
const CounterEvent = z.object({
  ph: z.literal("C"),
  name: z.string(),
  ts: microseconds,
  ...at,
  args: z.record(z.string(), z.number()),
});

export const TraceEvent = z.discriminatedUnion("ph", [MetadataEvent, CompleteEvent, CounterEvent]);
export type TraceEvent = z.infer<typeof TraceEvent>;

/** A profile in Chrome's Trace Event Format, as Perfetto and chrome://tracing read it. */
export const Trace = z
  .object({
    traceEvents: z.array(TraceEvent),
    displayTimeUnit: z.literal("ms"),
    otherData: z.object({
      startedAt: z.iso.datetime(),
      droppedEvents: z.number().int().openapi({ description: "The oldest, where all would be over the limit" }),
      alignment: z.string().openapi({ description: "How the GPU's clock was laid over the runner's" }),
    }),
  })
  .openapi("Trace");
export type Trace = z.infer<typeof Trace>;

/** How large a run's trace is, and what is missing of it. */
export const TraceSummary = z
  .object({ events: z.number().int(), droppedEvents: z.number().int(), sizeBytes: z.number().int() })
  .openapi("TraceSummary");
export type TraceSummary = z.infer<typeof TraceSummary>;
