import type { ComparisonReply } from "../../protocol/comparison.ts";
import { formatChange, formatP, formatSide } from "./format-figures.ts";
import { type Gate, headlineOf, type Judgement } from "./judge-pairs.ts";

/** A check as Markdown for a pull request: what failed stands first. */
export function renderMarkdown(comparison: ComparisonReply, judgements: readonly Judgement[], gate: Gate): string {
  const rows = judgements.map(({ name, outcome, reason, pair }) => [
    outcome === "passed" ? outcome : `**${outcome}**`,
    escape(name),
    ...(pair === null
      ? ["–", "–", "–", "–"]
      : [
          escape(formatSide(pair.a, pair.key.unit)),
          escape(formatSide(pair.b, pair.key.unit)),
          escape(formatChange(pair)),
          escape(formatP(pair.adjustedP)),
        ]),
    escape(reason),
  ]);
  const head = [
    "",
    "series",
    `A: ${escape(titleOf(comparison.a))}`,
    `B: ${escape(titleOf(comparison.b))}`,
    "change",
    "p",
    "why",
  ];
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |\n`;
  const table = rows.length === 0 ? "" : `${line(head)}${line(head.map(() => "---"))}${rows.map(line).join("")}\n`;
  const notes = [...comparison.notes, baselineNote(comparison)].filter((note) => note !== null);
  return `### ${escape(headlineOf(judgements, gate))}\n\n${table}${notes.map((note) => `- ${escape(note)}\n`).join("")}`;
}

function titleOf({ text, baseline }: ComparisonReply["a"]): string {
  return baseline?.name ?? text;
}

/** Which of the two a name was. */
export function baselineNote({ a }: ComparisonReply): string | null {
  if (a.baseline === null) return null;
  const { name, source } = a.baseline;
  return source === "pinned"
    ? `The baseline ${name} is pinned.`
    : `No baseline ${name} is pinned: it is the label of that name.`;
}

/** Text that Markdown shows as it is, in a cell and elsewhere, and that calls nobody's name. */
function escape(text: string): string {
  return text
    .replaceAll(/\s+/g, " ")
    .replaceAll(/[\\`*_[\]<>|#~]/g, String.raw`\$&`)
    .replaceAll("@", "&#64;");
}
