import type { ComparedPair, ComparedSide, ComparisonReply } from "../../protocol/history/comparison.ts";
import { countRuns, formatP } from "../../words/comparison.ts";
import { signed } from "../../words/numbers.ts";
import { formatWith } from "../render/format-values.ts";
import { type Gate, headlineOf, type Judgement } from "./judge-pairs.ts";

/** `12.34 ms`, and how many runs it rests on. */
export function formatSide(side: ComparedSide, unit: string): string {
  return `${formatWith(side.value, unit)} (${countRuns(side)})`;
}

/** `+5.3 % (+2.1 to +8)`: B's change with its interval, as shares of A; a difference where there is no ratio. */
export function formatChange({ ratio, difference, key }: ComparedPair): string {
  const estimate = ratio ?? difference;
  const short = (value: number) => String(Number(value.toPrecision(3)));
  const scale = (value: number) => signed(ratio === null ? value : 100 * (value - 1), short);
  const unit = ratio === null ? key.unit : "%";
  const { interval } = estimate;
  return `${scale(estimate.value)} ${unit}${interval === null ? "" : ` (${scale(interval.low)} to ${scale(interval.high)})`}`;
}

/**
 * A check as JUnit's XML: a test case per series, failed where it regressed, skipped where there was too little
 * evidence. Elements and attributes are those of the schema that Jenkins reads (jenkinsci/xunit-plugin, junit-10.xsd).
 */
export function renderJunit(judgements: readonly Judgement[]): string {
  const failures = judgements.filter(({ outcome }) => outcome === "regression").length;
  const skipped = judgements.filter(({ outcome }) => outcome === "insufficient" || outcome === "unclear").length;
  const counts = `tests="${judgements.length}" failures="${failures}" errors="0"`;
  return [
    `<?xml version="1.0" encoding="UTF-8"?>`,
    `<testsuites name="millrace" ${counts}>`,
    `  <testsuite name="millrace check" ${counts} skipped="${skipped}" time="0">`,
    ...judgements.map(renderCase),
    `  </testsuite>`,
    `</testsuites>`,
    "",
  ].join("\n");
}

function renderCase({ name, subject, outcome, reason, pair }: Judgement): string {
  const open = `    <testcase classname="${escapeXml(subject)}" name="${escapeXml(name)}" time="0"`;
  const said = escapeXml([pair?.summary ?? "", ...(pair?.warnings ?? [])].filter((text) => text !== "").join(" "));
  switch (outcome) {
    case "passed":
      return said === "" ? `${open}/>` : `${open}><system-out>${said}</system-out></testcase>`;
    case "regression":
      return `${open}><failure type="regression" message="${escapeXml(reason)}">${said}</failure></testcase>`;
    case "unclear":
    case "insufficient":
      return `${open}><skipped message="${escapeXml(`${outcome}: ${reason}`)}">${said}</skipped></testcase>`;
  }
}

/** Characters that XML 1.0 allows, with its five special ones as entities. */
function escapeXml(text: string): string {
  const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" };
  return text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, "\u{fffd}")
    .replaceAll(/[&<>"']/g, (mark) => ENTITIES[mark] ?? mark);
}

/** A check as Markdown for a pull request: what failed stands first. */
export function renderMarkdown(comparison: ComparisonReply, judgements: readonly Judgement[], gate: Gate): string {
  const rows = judgements.map(({ name, outcome, reason, pair }) => [
    outcome === "passed" ? outcome : `**${outcome}**`,
    escapeMarkdown(name),
    ...(pair === null
      ? ["–", "–", "–", "–"]
      : [
          escapeMarkdown(formatSide(pair.a, pair.key.unit)),
          escapeMarkdown(formatSide(pair.b, pair.key.unit)),
          escapeMarkdown(formatChange(pair)),
          escapeMarkdown(formatP(pair.adjustedP)),
        ]),
    escapeMarkdown(reason),
  ]);
  const head = [
    "",
    "series",
    `A: ${escapeMarkdown(titleOf(comparison.a))}`,
    `B: ${escapeMarkdown(titleOf(comparison.b))}`,
    "change",
    "p",
    "why",
  ];
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |\n`;
  const table = rows.length === 0 ? "" : `${line(head)}${line(head.map(() => "---"))}${rows.map(line).join("")}\n`;
  const notes = [...comparison.notes, baselineNote(comparison)].filter((note) => note !== null);
  return `### ${escapeMarkdown(headlineOf(judgements, gate))}\n\n${table}${notes.map((note) => `- ${escapeMarkdown(note)}\n`).join("")}`;
}

function titleOf({ text, baseline }: ComparisonReply["a"]): string {
  return baseline?.name ?? text;
}

/** Note on how the baseline's name was resolved. */
export function baselineNote({ a }: ComparisonReply): string | null {
  if (a.baseline === null) return null;
  const { name, source } = a.baseline;
  return source === "pinned"
    ? `The baseline ${name} is pinned.`
    : `No baseline ${name} is pinned: it is the label of that name.`;
}

/** Text that Markdown shows literally, in a table cell and elsewhere, without mentioning users. */
function escapeMarkdown(text: string): string {
  return text
    .replaceAll(/\s+/g, " ")
    .replaceAll(/[\\`*_[\]<>|#~]/g, String.raw`\$&`)
    .replaceAll("@", "&#64;");
}
