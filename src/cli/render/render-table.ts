import { styleText } from "node:util";
import type { Tone } from "../../words/tone.ts";
import type { Shell } from "../shell/shell.ts";

const STYLES = { good: "green", bad: "red", warn: "yellow", quiet: "dim", busy: "bold" } as const satisfies Record<
  Tone,
  string
>;

/** The text in a tone, where the output may have colours. */
export function paint({ colour }: Pick<Shell, "colour">, tone: Tone | undefined, text: string): string {
  return colour && tone !== undefined ? styleText(STYLES[tone], text, { validateStream: false }) : text;
}

/** So that lists above and below a table stand beneath each other, too. */
const NAME_COLUMNS = 12;

/** Names and values, one a line, the values beneath each other. */
export function renderFacts(facts: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(NAME_COLUMNS, ...facts.map(([name]) => name.length));
  return facts.map(([name, value]) => `  ${name.padEnd(width)}  ${value}\n`).join("");
}

const GAP = "  ";
const FEWEST = 8;

/**
 * A table of text, its columns as wide as their longest cell. Where that is more than `columns` allow, the widest
 * cells are cut, ending in an ellipsis; without a width nothing is. `paintCell` colours cells that have their width.
 */
export function renderTable(
  rows: readonly (readonly string[])[],
  columns = Number.POSITIVE_INFINITY,
  paintCell: (text: string, row: number, column: number) => string = (text) => text,
): string {
  const widest = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => lettersOf(row[column]).length)));
  const widths = narrow(widest, columns - GAP.length * (widest.length - 1));
  const line = (cells: readonly string[], row: number) =>
    cells.map((cell, column) => paintCell(fit(cell, widths[column] ?? 0), row, column)).join(GAP);
  return rows.map((cells, row) => `${line(cells, row).trimEnd()}\n`).join("");
}

/** Takes from the widest columns what is too much in all; none is made narrower than a word. */
function narrow(widest: readonly number[], room: number): number[] {
  const widths = [...widest];
  for (let excess = widths.reduce((sum, width) => sum + width, -room); excess > 0; excess--) {
    const width = Math.max(...widths);
    if (width <= FEWEST) break;
    widths[widths.indexOf(width)] = width - 1;
  }
  return widths;
}

function fit(cell: string, width: number): string {
  const letters = lettersOf(cell);
  if (letters.length > width) return `${letters.slice(0, width - 1).join("")}…`;
  return cell + " ".repeat(width - letters.length);
}

function lettersOf(text = ""): string[] {
  return Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);
}
