import { readFileSync } from "node:fs";
import type { Check } from "./check.ts";
import type { SuiteReport, SuiteSubject } from "./suite-report.ts";

/** Largest report. Source: the suite's own promise in docs/operations.md. */
export const MOST_REPORT_BYTES = 16 * 2 ** 20;
/** Longest text of one cell; the JSON has all of it. */
const MOST_TEXT = 600;
const BAR_WIDTH = 80;
/** Room for everything but the rows of checks. */
const FRAME_BYTES = 2 ** 20;

/** Colours are those of the page (src/dashboard/theme.css). */
const STYLE = readFileSync(new URL("report.css", import.meta.url), "utf8");

/**
 * A report as one HTML file without any other: a line per part, the failures, then every part's checks with a bar for
 * each figure. It has at most 16 MiB: rows beyond are counted, and are in the JSON.
 */
export function renderReport(report: SuiteReport): string {
  const { subject, checks } = report;
  const failed = checks.filter(({ outcome }) => outcome === "failed");
  const parts = Map.groupBy(checks, ({ part }) => part);
  const title = failed.length === 0 ? "nothing failed" : `${failed.length} failed`;
  const room = { bytes: MOST_REPORT_BYTES - FRAME_BYTES };
  return frame(subject, [
    `<h1>${escapeHtml(subject.device.name)}: ${title}</h1>`,
    renderSummary(parts),
    section("Failures", fitRows(["part", "check", "reason"], failed, renderFailure, room)),
    ...[...parts].map(([part, own]) => renderPart(part, own, room)),
    section("Device", renderSubject(report)),
  ]);
}

function frame({ device }: SuiteSubject, sections: readonly string[]): string {
  const name = escapeHtml(device.name);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Device suite: ${name}</title>
<style>${STYLE}</style>
</head>
<body>
${sections.join("\n")}
</body>
</html>
`;
}

function renderSummary(parts: ReadonlyMap<string, readonly Check[]>): string {
  const rows = [...parts].map(([part, own]) => {
    const count = (outcome: Check["outcome"]) => own.filter((each) => each.outcome === outcome).length;
    const seconds = own.reduce((sum, { durationMs }) => sum + durationMs, 0) / 1e3;
    const [passed, failed, skipped] = [count("passed"), count("failed"), count("skipped")];
    return `<tr><th>${escapeHtml(part)}</th><td>${share({ passed, failed, skipped })}</td><td>${passed}</td><td class="${failed > 0 ? "failed" : ""}">${failed}</td><td>${skipped}</td><td>${seconds.toFixed(1)}</td></tr>`;
  });
  return section("Parts", table(["part", "", "passed", "failed", "skipped", "s"], rows));
}

/** Shares of the outcomes as one bar. */
function share(counts: Readonly<Record<Check["outcome"], number>>): string {
  const total = Math.max(1, counts.passed + counts.failed + counts.skipped);
  let x = 0;
  const rectangles = (["passed", "failed", "skipped"] as const).map((outcome) => {
    const width = (2 * BAR_WIDTH * counts[outcome]) / total;
    x += width;
    return `<rect class="${outcome}" x="${(x - width).toFixed(1)}" width="${width.toFixed(1)}" height="10"/>`;
  });
  return `<svg width="${2 * BAR_WIDTH}" height="10" aria-hidden="true">${rectangles.join("")}</svg>`;
}

function renderFailure({ part, name, reason = "" }: Check): string {
  return `<tr><td>${escapeHtml(part)}</td><td>${escapeHtml(name)}</td><td><pre>${escapeHtml(cut(reason))}</pre></td></tr>`;
}

/** All checks of a part, with a column for each figure. */
function renderPart(part: string, checks: readonly Check[], room: Room): string {
  const columns = [...new Set(checks.flatMap(({ figures = {} }) => Object.keys(figures)))];
  const largest = new Map(columns.map((column) => [column, Math.max(0, ...numbersOf(checks, column))]));
  return section(
    part,
    fitRows(["", "check", "ms", ...columns, "reason"], checks, (check) => renderCheck(check, largest), room),
  );
}

/** What is left of the file for rows. */
interface Room {
  bytes: number;
}

/** A table of as many checks as fit, and the number of the others. Takes the rows' bytes from the room. */
function fitRows(
  columns: readonly string[],
  checks: readonly Check[],
  render: (check: Check) => string,
  room: Room,
): string {
  if (checks.length === 0) return "<p>None.</p>";
  const rows: string[] = [];
  for (const check of checks) {
    const row = render(check);
    const rowBytes = Buffer.byteLength(row) + 1;
    if (rowBytes > room.bytes) break;
    room.bytes -= rowBytes;
    rows.push(row);
  }
  const left = checks.length - rows.length;
  return table(columns, rows) + (left === 0 ? "" : `<p>${left} more checks are in the JSON.</p>`);
}

function numbersOf(checks: readonly Check[], column: string): number[] {
  return checks.map(({ figures }) => figures?.[column]).filter((value): value is number => Number.isFinite(value));
}

function renderCheck(
  { name, outcome, reason = "", figures = {}, durationMs }: Check,
  largest: ReadonlyMap<string, number>,
) {
  const cells = [...largest].map(([column, most]) => `<td class="figure">${renderFigure(figures[column], most)}</td>`);
  return `<tr><td class="${outcome}">${outcome}</td><td class="name">${escapeHtml(name)}</td><td>${durationMs.toFixed(0)}</td>${cells.join("")}<td>${escapeHtml(cut(reason))}</td></tr>`;
}

/** A figure, with a bar of its share of the largest in its column. */
function renderFigure(value: number | string | null | undefined, largest: number): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return escapeHtml(cut(value));
  if (!Number.isFinite(value)) return String(value);
  const width = largest > 0 ? Math.max(0, (BAR_WIDTH * value) / largest) : 0;
  const text = Number.isInteger(value) || Math.abs(value) >= 1_000 ? value.toFixed(0) : value.toPrecision(4);
  return `<svg width="${BAR_WIDTH}" height="10" aria-hidden="true"><rect class="bar" width="${width.toFixed(1)}" height="10"/></svg> ${text}`;
}

function renderSubject({ subject, startedAt, updatedAt, limitMs }: SuiteReport): string {
  const { device, board, hardware, adapters, release, commit } = subject;
  const facts: Readonly<Record<string, unknown>> = {
    adapter: device.fingerprint.adapter,
    driver: device.fingerprint.driver,
    dawn: device.fingerprint.dawn,
    software: device.software,
    adapters,
    features: device.features,
    limits: device.limits,
    board,
    hardware,
    release,
    commit,
    startedAt,
    updatedAt,
    limitMs,
  };
  const rows = Object.entries(facts).map(([name, fact]) => {
    const text = typeof fact === "string" ? fact : JSON.stringify(fact, null, 1);
    return `<tr><th>${escapeHtml(name)}</th><td><pre>${escapeHtml(text)}</pre></td></tr>`;
  });
  return table([], rows);
}

function section(title: string, body: string): string {
  return `<section><h2>${escapeHtml(title)}</h2>\n${body}</section>`;
}

function table(columns: readonly string[], rows: readonly string[]): string {
  const head =
    columns.length === 0
      ? ""
      : `<thead><tr>${columns.map((each) => `<th>${escapeHtml(each)}</th>`).join("")}</tr></thead>`;
  return `<div class="scroll"><table>${head}<tbody>\n${rows.join("\n")}\n</tbody></table></div>`;
}

function cut(text: string): string {
  return text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}…` : text;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!);
}
