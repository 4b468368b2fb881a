/** A part of a trace's time, in microseconds. */
export interface TraceStretch {
  readonly startUs: number;
  readonly endUs: number;
}

/** Nearer than this nothing is told apart: GPU clocks tick in nanoseconds at best. */
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
