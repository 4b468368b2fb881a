import { styleText } from "node:util";
import type { Row } from "./row.ts";

const HEADINGS = ["case", "metric", "ours", "peer", "theirs", "ratio", ""];
/** Columns of numbers are aligned right. */
const NUMERIC = new Set([2, 4, 5]);

/** Table of one bench's rows for people, under a line with the machine and the kind of measurement. */
export function renderTable(rows: readonly Row[]): string {
  const [first] = rows;
  if (first === undefined) return "";
  const software = first.software ? " (software device)" : "";
  const title = `${first.bench} on ${first.device}${software}, medians of ${first.rounds} rounds; a ratio above 1 means that ours is better`;
  const cells = [HEADINGS, ...rows.map(renderCells)];
  const widths = HEADINGS.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)));
  const lines = cells.map((line) =>
    line
      .map((cell, column) =>
        NUMERIC.has(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd(),
  );
  return [title, ...listMissing(rows), ...lines].join("\n");
}

/** A line for each peer without a single value, in red on a terminal: nobody takes its absence for a win. */
function listMissing(rows: readonly Row[]): string[] {
  const found = new Set(rows.filter(({ peerValue }) => peerValue !== null).map(({ peer }) => peer));
  const missing = rows.filter(({ peer }) => peer !== null && !found.has(peer));
  const reasons = new Map(missing.map(({ peer, reason }) => [peer, reason]));
  return [...reasons].map(([peer, reason]) => styleText("red", `without ${peer}: ${reason}`));
}

function renderCells({ case: name, metric, unit, ours, peer, peerValue, ratio, reason }: Row): string[] {
  const withUnit = (value: number | null) => (value === null ? "–" : `${value} ${unit}`);
  return [
    name,
    metric,
    withUnit(ours),
    peer ?? "–",
    withUnit(peerValue),
    ratio === null ? "–" : ratio.toFixed(2),
    reason ?? "",
  ];
}
