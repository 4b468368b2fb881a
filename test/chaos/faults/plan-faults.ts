import { sfc32 } from "../../../src/stats/random/seeded.ts";

export const EDGE_FAULTS = ["kill", "stop", "disk-full", "clock", "database", "objects", "evict"] as const;
export const RUNNER_FAULTS = [
  "kill",
  "stop",
  "kill-device",
  "stop-device",
  "disk-full",
  "clock",
  "cut",
  "delay",
  "half-open",
  "duplicate",
  "reorder",
] as const;
type EdgeFaultKind = (typeof EDGE_FAULTS)[number];
type RunnerFaultKind = (typeof RUNNER_FAULTS)[number];
export type FaultKind = EdgeFaultKind | RunnerFaultKind;

interface Timing {
  /** From the beginning of the faults. */
  readonly atMs: number;
  readonly durationMs: number;
  /** In [0, 1): how bad it is, in terms of the kind. */
  readonly severity: number;
}

export type EdgeFault = Timing & { readonly part: "edge"; readonly kind: EdgeFaultKind };
/** `part` is the runner's place. */
export type RunnerFault = Timing & { readonly part: number; readonly kind: RunnerFaultKind };
/** A fault of one part of the stack, and its time. */
export type Fault = EdgeFault | RunnerFault;

export interface PlanOptions {
  readonly seed: number;
  readonly durationMs: number;
  readonly runners: number;
  /** Between two faults of one part, on average. */
  readonly meanGapMs: number;
  /** Kinds that cannot be made here. */
  readonly without: ReadonlySet<FaultKind>;
}

const RESOLUTION = 2 ** 24;
/** Random streams of one seed: more than there are parts. */
const STREAMS = 64;
const MIN_FAULT_MS = 500;
const MAX_FAULT_MS = 6_000;

/**
 * The faults of a run by its seed, in order. Each part has its own, one after the other, so that those of several parts
 * fall together as chance will have it; every kind comes once before one comes again.
 */
export function planFaults(options: PlanOptions): Fault[] {
  const ofEdge = planPart(options, 0, EDGE_FAULTS).map((fault) => ({ ...fault, part: "edge" as const }));
  const ofRunners = Array.from({ length: options.runners }, (_, part) =>
    planPart(options, part + 1, RUNNER_FAULTS).map((fault) => ({ ...fault, part })),
  );
  return [...ofEdge, ...ofRunners.flat()].toSorted((a, b) => a.atMs - b.atMs);
}

function planPart<Kind extends FaultKind>(
  { seed, durationMs, meanGapMs, without }: PlanOptions,
  stream: number,
  kinds: readonly Kind[],
): (Timing & { readonly kind: Kind })[] {
  const draw = sfc32(seed * STREAMS + stream);
  const uniform = () => draw(RESOLUTION) / RESOLUTION;
  const faults: (Timing & { readonly kind: Kind })[] = [];
  const possible = kinds.filter((kind) => !without.has(kind));
  let bag: Kind[] = [];
  for (let atMs = meanGapMs * uniform(); ;) {
    if (bag.length === 0) bag = shuffle(possible, draw);
    const kind = bag.pop();
    const lastsMs = Math.round(MIN_FAULT_MS + (MAX_FAULT_MS - MIN_FAULT_MS) * uniform());
    if (kind === undefined || atMs + lastsMs > durationMs) return faults;
    faults.push({ kind, atMs: Math.round(atMs), durationMs: lastsMs, severity: uniform() });
    atMs += lastsMs + meanGapMs * (0.3 + 1.4 * uniform());
  }
}

/** Fisher and Yates. */
function shuffle<Item>(items: readonly Item[], draw: (below: number) => number): Item[] {
  const shuffled = [...items];
  for (let last = shuffled.length - 1; last > 0; last--) {
    const other = draw(last + 1);
    [shuffled[last], shuffled[other]] = [shuffled[other]!, shuffled[last]!];
  }
  return shuffled;
}
