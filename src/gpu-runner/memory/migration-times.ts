import { addToSketch, createSketch, type Sketch, sketchQuantile } from "../../stats/distribution/sketch.ts";
import type { MigrationTimes as MigrationReport, TierName } from "../../protocol/fleet/memory.ts";

const KiB = 1024;
/** Upper bounds of the size classes; the last class has none. */
const SIZE_CLASSES = [4 * KiB, 64 * KiB, 1024 * KiB, 16 * 1024 * KiB, Number.POSITIVE_INFINITY];
/** Measurements from which they replace the guess. */
const ENOUGH = 3;

/**
 * Assumed cost of a migration before it was measured: latency in milliseconds and bytes per millisecond. The guesses
 * only need to order the sources and weigh evictions correctly.
 */
const GUESSES: Readonly<Record<TierName, { readonly latencyMs: number; readonly bytesPerMs: number }>> = {
  gpu: { latencyMs: 1, bytesPerMs: 500_000 },
  host: { latencyMs: 0, bytesPerMs: 10_000_000 },
  disk: { latencyMs: 0.5, bytesPerMs: 200_000 },
  edge: { latencyMs: 50, bytesPerMs: 10_000 },
};

interface Measured {
  readonly from: TierName;
  readonly to: TierName;
  readonly sizeClass: number;
  readonly sketch: Sketch;
  bytes: number;
}

/** Durations of transfers between tiers, by size class, on the runner's monotonic clock. */
export class MigrationTimes {
  readonly #measured = new Map<string, Measured>();

  note(from: TierName, to: TierName, sizeBytes: number, durationMs: number): void {
    const sizeClass = classOf(sizeBytes);
    const key = `${from} ${to} ${sizeClass}`;
    const measured = this.#measured.get(key) ?? { from, to, sizeClass, sketch: createSketch(), bytes: 0 };
    this.#measured.set(key, measured);
    addToSketch(measured.sketch, durationMs);
    measured.bytes += sizeBytes;
  }

  /** Median of the measurements in that size class, otherwise a guess from the size and the slower end. */
  expectedMs(from: TierName, to: TierName, sizeBytes: number): number {
    const measured = this.#measured.get(`${from} ${to} ${classOf(sizeBytes)}`);
    if (measured !== undefined && measured.sketch.count >= ENOUGH) return sketchQuantile(measured.sketch, 0.5);
    return Math.max(...[GUESSES[from], GUESSES[to]].map((guess) => guess.latencyMs + sizeBytes / guess.bytesPerMs));
  }

  report(): MigrationReport[] {
    return [...this.#measured.values()].map(({ from, to, sizeClass, sketch, bytes }) => {
      const upToBytes = SIZE_CLASSES[sizeClass] ?? Number.POSITIVE_INFINITY;
      return {
        from,
        to,
        upToBytes: Number.isFinite(upToBytes) ? upToBytes : null,
        count: sketch.count,
        bytes,
        p50Ms: sketchQuantile(sketch, 0.5),
        p99Ms: sketchQuantile(sketch, 0.99),
      };
    });
  }
}

function classOf(sizeBytes: number): number {
  return SIZE_CLASSES.findIndex((bound) => sizeBytes <= bound);
}
