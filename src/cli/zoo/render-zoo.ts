import { renderTable } from "../render/render-table.ts";
import type { ZooFailure, ZooMean, ZooRow } from "./zoo-row.ts";

const HEADINGS = ["category", "model", "parameters", "backend", "p50 ms", "p95 ms", "p99 ms", "rows/s", "memory"];
/** Columns of text; numbers stand flush right. */
const TEXT = new Set([0, 1, 3]);
const MIB = 2 ** 20;

/** The table of a zoo for people: a line for each network and backend, the means, and what went wrong. */
export function renderZoo(
  rows: readonly ZooRow[],
  means: readonly ZooMean[],
  failures: readonly ZooFailure[],
  columns?: number,
): string {
  const cells = [HEADINGS, ...rows.map(renderRow), ...means.map(renderMean)];
  const widths = HEADINGS.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)));
  const aligned = cells.map((row) =>
    row.map((cell, column) => (TEXT.has(column) ? cell : cell.padStart(widths[column]!))),
  );
  const wrong = failures.map(({ model, backend, reason }) => `${model} by ${backend} was not measured: ${reason}\n`);
  return `${renderTable(aligned, columns)}${wrong.join("")}`;
}

function renderRow(row: ZooRow): string[] {
  const backend = row.software ? `${row.backend} (software)` : row.backend;
  const memory = row.memoryBytes === null ? "–" : `${(row.memoryBytes / MIB).toFixed(1)} MiB`;
  return [row.category, row.model, row.parameters.toLocaleString("en"), backend, ...renderTimes(row), memory];
}

function renderMean(row: ZooMean): string[] {
  return [row.mean, `mean of ${row.models}`, "", "fastest of each", ...renderTimes(row), ""];
}

function renderTimes({ p50Ms, p95Ms, p99Ms, samplesPerS }: ZooMean | ZooRow): string[] {
  return [p50Ms.toFixed(3), p95Ms.toFixed(3), p99Ms.toFixed(3), Math.round(samplesPerS).toLocaleString("en")];
}
