const GAP = "  ";
const FEWEST = 8;

/**
 * A table of text, its columns as wide as their longest cell. Where that is more than `columns` allow, the widest
 * cells are cut, ending in an ellipsis; without a width nothing is.
 */
export function renderTable(rows: readonly (readonly string[])[], columns: number | undefined): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => lengthOf(row[column]))));
  const total = () => widths.reduce((sum, width) => sum + width, GAP.length * (widths.length - 1));
  while (columns !== undefined && total() > columns) {
    const widest = Math.max(...widths);
    if (widest <= FEWEST) break;
    widths[widths.indexOf(widest)] = Math.max(FEWEST, widest - (total() - columns), secondOf(widths) - 1);
  }
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, column) => fit(cell, widths[column] ?? 0))
          .join(GAP)
          .trimEnd()}\n`,
    )
    .join("");
}

function lengthOf(cell: string | undefined): number {
  return [...(cell ?? "")].length;
}

function secondOf(widths: readonly number[]): number {
  return widths.toSorted((a, b) => b - a)[1] ?? 0;
}

function fit(cell: string, width: number): string {
  const letters = [...cell];
  return letters.length > width
    ? `${letters.slice(0, width - 1).join("")}…`
    : cell.padEnd(width + cell.length - letters.length);
}
