import type { ArchiveHead } from "../../protocol/policies/archive-file.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { valueText } from "./plot-text.ts";

/** One axis of a heat map: the number of cells drawn, and their range. */
export interface HeatAxis {
  readonly label: string;
  readonly cells: number;
  readonly low: number;
  readonly high: number;
}

/** A heat map as plain data. */
export interface HeatSpec {
  readonly title: string;
  /** Text alternative for screen readers. */
  readonly description: string;
  readonly x: HeatAxis;
  readonly y: HeatAxis;
  /** Row by row from the lowest; NaN for empty cells. */
  readonly values: Float64Array;
}

/** Fitness by the first two measures of an archive: the best along the others, and within one drawn cell. */
export function heatPlot({ summary, cells, fitness }: Pick<ArchiveHead, "summary" | "cells" | "fitness">): HeatSpec {
  const { dims, ranges, environment, filled, coverage, qdScore, offset, best } = summary;
  const axis = (index: number): HeatAxis => ({
    label: `measure ${index + 1}`,
    cells: Math.min(dims[index] ?? 1, LIMITS.drawnCells),
    low: ranges[index]?.low ?? 0,
    high: ranges[index]?.high ?? 1,
  });
  const [x, y] = [axis(0), axis(1)];
  const values = new Float64Array(x.cells * y.cells).fill(Number.NaN);
  for (const [index, cell] of cells.entries()) {
    const [column = 0, row = 0] = unravel(cell, dims);
    const drawnColumn = Math.floor((column * x.cells) / (dims[0] ?? 1));
    const drawnRow = Math.floor((row * y.cells) / (dims[1] ?? 1));
    const at = drawnRow * x.cells + drawnColumn;
    if (!(values[at]! >= fitness[index]!)) values[at] = fitness[index]!;
  }
  const covered = `${filled} of ${dims.join(" × ")} cells (${(100 * coverage).toFixed(1)} %)`;
  const score = `QD-score ${valueText(qdScore)} above ${valueText(offset)}`;
  return {
    title: `${environment}: fitness of elites by behaviour`,
    description: `${covered}; ${score}; best fitness ${best === null ? "none" : valueText(best)}.`,
    x,
    y,
    values,
  };
}

/** Index along each axis from a cell's number in C order. */
function unravel(cell: number, dims: readonly number[]): number[] {
  let rest = cell;
  return dims
    .toReversed()
    .map((size) => {
      const place = rest % size;
      rest = Math.floor(rest / size);
      return place;
    })
    .toReversed();
}
