import type { Heatmap } from "../protocol/history-query.ts";
import { formatMeasure, formatNumber } from "./format.ts";

/** Where a reader is in a heat map: the step, and the row of values. */
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

/** How strongly a cell is drawn, from 0 to 1: by the root, so that what is rare is still seen. */
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
