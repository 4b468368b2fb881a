import type { Trace, TraceEvent } from "../../protocol/jobs/benchmark.ts";

/** A part of a trace's time, in microseconds. */
export interface TraceStretch {
  readonly startUs: number;
  readonly endUs: number;
}

/** Shortest visible duration: GPU clocks tick in nanoseconds at best. */
const SHORTEST_US = 0.1;

/** A stretch `factor` times as long, with `atUs` where it was in it; never beyond the whole. */
export function zoomStretch(shown: TraceStretch, factor: number, atUs: number, whole: TraceStretch): TraceStretch {
  const lengthUs = Math.max(SHORTEST_US, (shown.endUs - shown.startUs) * factor);
  const share = (atUs - shown.startUs) / (shown.endUs - shown.startUs);
  return keepWithin(atUs - share * lengthUs, lengthUs, whole);
}

/** The stretch that lies later by this time, as far as there is something. */
export function moveStretch(shown: TraceStretch, byUs: number, whole: TraceStretch): TraceStretch {
  return keepWithin(shown.startUs + byUs, shown.endUs - shown.startUs, whole);
}

/** A span with as much room around it as it is long itself. */
export function stretchAround({ startUs, endUs }: TraceStretch, whole: TraceStretch): TraceStretch {
  const lengthUs = Math.max(SHORTEST_US, endUs - startUs);
  return keepWithin(startUs - lengthUs, 3 * lengthUs, whole);
}

function keepWithin(startUs: number, lengthUs: number, whole: TraceStretch): TraceStretch {
  if (lengthUs >= whole.endUs - whole.startUs) return { startUs: whole.startUs, endUs: whole.endUs };
  const first = Math.min(Math.max(startUs, whole.startUs), whole.endUs - lengthUs);
  return { startUs: first, endUs: first + lengthUs };
}

/** Round instants within a stretch, as far apart as `most` of them allow. */
export function tickStretch({ startUs, endUs }: TraceStretch, most: number): number[] {
  const least = (endUs - startUs) / Math.max(1, most);
  if (!(least > 0)) return [];
  const power = 10 ** Math.floor(Math.log10(least));
  const stepUs = power * ([1, 2, 5].find((factor) => factor * power >= least) ?? 10);
  const first = Math.ceil(startUs / stepUs);
  const count = Math.floor(endUs / stepUs) - first + 1;
  return Array.from({ length: Math.max(0, count) }, (_, place) => (first + place) * stepUs);
}

/** A span as it is drawn; times in microseconds since the trace began. */
export interface LaidSpan {
  readonly name: string;
  readonly lane: string;
  readonly startUs: number;
  readonly endUs: number;
  /** Number of enclosing spans in its lane. */
  readonly depth: number;
  /** Repetition that the span belongs to; null if none. */
  readonly run: number | null;
}

/** A thread of a trace: its spans in order of their beginning, and how deep they are nested. */
export interface TraceLane {
  readonly name: string;
  readonly rows: number;
  readonly spans: readonly LaidSpan[];
}

/** A trace as lanes over time. */
export interface LaidTrace {
  readonly lanes: readonly TraceLane[];
  readonly startUs: number;
  readonly endUs: number;
}

type Span = Extract<TraceEvent, { ph: "X" }>;

const laneOf = ({ pid, tid }: Pick<TraceEvent, "pid" | "tid">) => `${pid} ${tid}`;

/** Puts the spans of a trace on a lane each thread; a span lies below those that are still open when it begins. */
export function layOutTrace({ traceEvents }: Pick<Trace, "traceEvents">): LaidTrace {
  const names = new Map<string, string>();
  const spans = new Map<string, Span[]>();
  for (const event of traceEvents) {
    if (event.ph === "M" && event.name === "thread_name") names.set(laneOf(event), event.args.name);
    if (event.ph !== "X") continue;
    const lane = spans.get(laneOf(event));
    if (lane === undefined) spans.set(laneOf(event), [event]);
    else lane.push(event);
  }
  const lanes = [...spans].map(([lane, own]) => layOutLane(names.get(lane) ?? `thread ${lane}`, own));
  const all = lanes.flatMap((lane) => lane.spans);
  return {
    lanes,
    startUs: all.reduce((least, { startUs }) => Math.min(least, startUs), all[0]?.startUs ?? 0),
    endUs: all.reduce((largest, { endUs }) => Math.max(largest, endUs), 0),
  };
}

/** Begin and duration are rounded apart: a span may seem to end this much after the one around it. */
const ROUNDING_US = 0.001;

function layOutLane(name: string, spans: readonly Span[]): TraceLane {
  const openUntilUs: number[] = [];
  let rows = 0;
  const laid = spans
    .toSorted((a, b) => a.ts - b.ts || b.dur - a.dur)
    .map(({ name: own, ts, dur, args }): LaidSpan => {
      while ((openUntilUs.at(-1) ?? Number.POSITIVE_INFINITY) <= ts + ROUNDING_US) openUntilUs.pop();
      const depth = openUntilUs.length;
      openUntilUs.push(ts + dur);
      rows = Math.max(rows, depth + 1);
      return { name: own, lane: name, startUs: ts, endUs: ts + dur, depth, run: args.run ?? null };
    });
  return { name, rows, spans: laid };
}

/** Spans of one name on one lane, together. */
export interface SpanSum {
  readonly name: string;
  readonly lane: string;
  readonly count: number;
  readonly totalUs: number;
  readonly longest: LaidSpan;
}

/** The spans by lane and name, what took longest in all first. */
export function sumSpans({ lanes }: LaidTrace): SpanSum[] {
  const sums = lanes.flatMap((lane) => {
    const byName = Map.groupBy(lane.spans, ({ name }) => name);
    return [...byName].map(([name, spans]) => ({
      name,
      lane: lane.name,
      count: spans.length,
      totalUs: spans.reduce((sum, span) => sum + lengthOf(span), 0),
      longest: spans.reduce((longest, span) => (lengthOf(span) > lengthOf(longest) ? span : longest)),
    }));
  });
  return sums.toSorted((a, b) => b.totalUs - a.totalUs);
}

function lengthOf({ startUs, endUs }: LaidSpan): number {
  return endUs - startUs;
}
