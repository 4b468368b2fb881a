import type { Heatmap } from "../../protocol/history/history-query.ts";
import type { ElitePage, StoredArchive } from "../../protocol/policies/archive.ts";
import { formatMeasure, formatNumber } from "../../words/numbers.ts";

type Elite = ElitePage["items"][number];

/** Cursor position in a map: columns along the first measure, rows along the second, from 0. */
export interface MapPlace {
  readonly column: number;
  readonly row: number;
}

/** The best elite for each pair of places along the first two measures. */
export interface ArchiveMap {
  readonly columns: number;
  readonly rows: number;
  readonly elites: ReadonlyMap<number, Elite>;
  readonly low: number;
  readonly high: number;
}

export function mapArchive({ dims }: Pick<StoredArchive, "dims">, items: readonly Elite[]): ArchiveMap {
  const [columns = 1, rows = 1, ...others] = dims;
  const behind = others.reduce((product, size) => product * size, 1);
  const elites = new Map<number, Elite>();
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const elite of items) {
    const pair = Math.floor(elite.cell / behind);
    const rival = elites.get(pair);
    if (rival === undefined || elite.fitness > rival.fitness) elites.set(pair, elite);
    low = Math.min(low, elite.fitness);
    high = Math.max(high, elite.fitness);
  }
  return { columns, rows, elites, low, high };
}

/** The elite of a cell; undefined for an empty cell. */
export function eliteAt({ rows, elites }: ArchiveMap, { column, row }: MapPlace): Elite | undefined {
  return elites.get(column * rows + row);
}

/** Cell of an elite in the map. */
export function placeOf({ rows }: ArchiveMap, pair: number): MapPlace {
  return { column: Math.floor(pair / rows), row: pair % rows };
}

/** Intensity of a cell, from 0 to 1. */
export function shadeFitness(fitness: number, { low, high }: Pick<ArchiveMap, "low" | "high">): number {
  return 0.15 + 0.85 * (high > low ? (fitness - low) / (high - low) : 1);
}

/** The next place in a direction; rows count upwards. Stays at the edge. */
export function moveInMap({ column, row }: MapPlace, key: string, { columns, rows }: ArchiveMap): MapPlace {
  const across = { ArrowLeft: column - 1, ArrowRight: column + 1, Home: 0, End: columns - 1 }[key] ?? column;
  const up = { ArrowUp: row + 1, ArrowDown: row - 1, PageUp: rows - 1, PageDown: 0 }[key] ?? row;
  return { column: Math.max(0, Math.min(columns - 1, across)), row: Math.max(0, Math.min(rows - 1, up)) };
}

/** Cursor position in a heat map: the step, and the row of values. */
export interface HeatPlace {
  readonly column: number;
  readonly row: number;
}

/** The highest count of one cell, and what each step has in all. */
export function tallyHeat({ counts }: Pick<Heatmap, "counts">): {
  readonly most: number;
  readonly totals: readonly number[];
} {
  const totals = counts.map((column) => column.reduce((sum, count) => sum + count, 0));
  return { most: Math.max(0, ...counts.flat()), totals };
}

/** Intensity of a cell, from 0 to 1; the square root keeps rare values visible. */
export function shadeOf(count: number, most: number): number {
  return count === 0 || most === 0 ? 0 : 0.15 + 0.85 * Math.sqrt(count / most);
}

/** The next place in a direction; rows count upwards. Stays at the edge. */
export function movePlace(
  { column, row }: HeatPlace,
  key: string,
  { times, edges }: Pick<Heatmap, "times" | "edges">,
): HeatPlace {
  const columns = { ArrowLeft: column - 1, ArrowRight: column + 1, Home: 0, End: times.length - 1 }[key] ?? column;
  const rows = { ArrowUp: row + 1, ArrowDown: row - 1 }[key] ?? row;
  return {
    column: Math.max(0, Math.min(times.length - 1, columns)),
    row: Math.max(0, Math.min(edges.length - 2, rows)),
  };
}

/** The row of a step that has most. */
export function densestRow(column: readonly number[]): number {
  return column.indexOf(Math.max(...column));
}

/** The values of a row, with their unit. */
export function nameRow(edges: readonly number[], row: number, unit: string): string {
  return `${formatNumber(edges[row] ?? Number.NaN)} to ${formatMeasure(edges[row + 1] ?? Number.NaN, unit)}`;
}
