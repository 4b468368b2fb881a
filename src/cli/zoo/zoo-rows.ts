import { ZOO_CATEGORIES, type ZooCategory } from "../../../models/zoo.ts";
import type { Backend } from "../../protocol/fleet/hardware.ts";
import { mean } from "../../stats/distribution/summary.ts";
import { markSoftware } from "../../words/runners.ts";
import { renderTable } from "../render/render-table.ts";

/** Result of one network of the zoo on one backend of a runner. */
export interface ZooRow {
  readonly category: ZooCategory;
  readonly model: string;
  readonly parameters: number;
  readonly runner: string;
  readonly deviceKey: string;
  readonly backend: Backend;
  /** Whether the device is emulated on the processor. */
  readonly software: boolean;
  /** Whether it is the runner's placement that the edge chooses for a request with a long budget. */
  readonly chosen: boolean;
  /** Median time of single rows on the runner. */
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  /** Rows a second where all are there at once. */
  readonly samplesPerS: number;
  /** Memory of the loaded network with one row; null if it could not be measured. */
  readonly memoryBytes: number | null;
  readonly startupMs: number;
  /** Id of the run in the history. */
  readonly runId: string | null;
}

/** A network that could not be measured on a backend. */
export interface ZooFailure {
  readonly category: ZooCategory;
  readonly model: string;
  readonly backend: Backend;
  readonly reason: string;
}

/** Means over networks, each on the backend that is fastest for it. */
interface ZooMean {
  readonly mean: ZooCategory | "all";
  readonly models: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly samplesPerS: number;
}

/** The means of each category that has rows, then those of all. */
export function averageZoo(rows: readonly ZooRow[]): ZooMean[] {
  const fastest = new Map<string, ZooRow>();
  for (const row of rows) if (row.p50Ms < (fastest.get(row.model)?.p50Ms ?? Infinity)) fastest.set(row.model, row);
  const best = [...fastest.values()];
  return [...ZOO_CATEGORIES, "all" as const].flatMap((name) => {
    const some = best.filter(({ category }) => name === "all" || category === name);
    if (some.length === 0) return [];
    const of = (pick: (row: ZooRow) => number) => mean(some.map(pick));
    return {
      mean: name,
      models: some.length,
      p50Ms: of((row) => row.p50Ms),
      p95Ms: of((row) => row.p95Ms),
      p99Ms: of((row) => row.p99Ms),
      samplesPerS: of((row) => row.samplesPerS),
    };
  });
}

/** How much longer than the fastest a choice may take and still be as good: within this, measurements differ. */
const NEAR = 1.05;

/** What the edge's choices cost, in words: how many are near the fastest, and the others. */
export function describeChoices(rows: readonly ZooRow[]): string[] {
  const choices = rows.filter(({ chosen }) => chosen);
  const far = choices.flatMap(({ model, backend, p50Ms }) => {
    const fastest = rows.filter((row) => row.model === model).toSorted((a, b) => a.p50Ms - b.p50Ms)[0]!;
    const ratio = p50Ms / fastest.p50Ms;
    if (ratio <= NEAR) return [];
    return [`${model}: the edge chose ${backend}, ${ratio.toFixed(2)} times ${fastest.backend}\n`];
  });
  const near = `The edge's choice is within 5 % of the fastest for ${choices.length - far.length} of ${choices.length} networks.\n`;
  return choices.length === 0 ? [] : [near, ...far];
}

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
  return `${renderTable(aligned, columns)}${[...describeChoices(rows), ...wrong].join("")}`;
}

function renderRow(row: ZooRow): string[] {
  const backend = markSoftware(row.backend, row.software);
  const memory = row.memoryBytes === null ? "–" : `${(row.memoryBytes / MIB).toFixed(1)} MiB`;
  return [row.category, row.model, row.parameters.toLocaleString("en"), backend, ...renderTimes(row), memory];
}

function renderMean(row: ZooMean): string[] {
  return [row.mean, `mean of ${row.models}`, "", "fastest of each", ...renderTimes(row), ""];
}

function renderTimes({ p50Ms, p95Ms, p99Ms, samplesPerS }: ZooMean | ZooRow): string[] {
  return [p50Ms.toFixed(3), p95Ms.toFixed(3), p99Ms.toFixed(3), Math.round(samplesPerS).toLocaleString("en")];
}
