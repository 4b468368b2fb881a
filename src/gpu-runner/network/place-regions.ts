import type { PlannedOp } from "./lowering.ts";
import type { Region } from "./network-value.ts";

/** Regions begin where a vector of four does. */
const ALIGNED_WORDS = 4;

interface Life {
  readonly region: Region;
  /** Operators that write it first and touch it last. */
  readonly from: number;
  until: number;
}

/**
 * Gives each region its offset in the arena: regions that are in use at the same time stand apart, others may share a
 * place. The first gap that is wide enough is taken, the largest regions first.
 */
export function placeRegions(operators: readonly PlannedOp[]): { offsets: Map<Region, number>; words: number } {
  const placed: { life: Life; offset: number }[] = [];
  let words = 0;
  const lives = livesOf(operators).toSorted((one, other) => other.region.words - one.region.words);
  for (const life of lives) {
    const beside = placed
      .filter(({ life: other }) => life.from <= other.until && other.from <= life.until)
      .toSorted((one, other) => one.offset - other.offset);
    let offset = 0;
    for (const other of beside) {
      if (offset + life.region.words <= other.offset) break;
      offset = Math.max(offset, align(other.offset + other.life.region.words));
    }
    placed.push({ life, offset });
    words = Math.max(words, align(offset + life.region.words));
  }
  return { offsets: new Map(placed.map(({ life, offset }) => [life.region, offset])), words };
}

function livesOf(operators: readonly PlannedOp[]): Life[] {
  const lives = new Map<Region, Life>();
  for (const [index, { input, other, output, cells, firstCells, products }] of operators.entries()) {
    for (const spot of [input, other, output, cells, firstCells, products]) {
      if (spot === undefined) continue;
      const life = lives.get(spot.region);
      if (life === undefined) lives.set(spot.region, { region: spot.region, from: index, until: index });
      else life.until = index;
    }
  }
  return [...lives.values()];
}

function align(words: number): number {
  return Math.ceil(words / ALIGNED_WORDS) * ALIGNED_WORDS;
}
