import { renderTable } from "../../src/cli/render/render-table.ts";
import { judgeOutcome, JUDGEMENT } from "./judge-outcome.ts";
import type { Outcome } from "./play-attack.ts";

const MIB = 2 ** 20;
/** Answers that a line of the table names. */
const NAMED_ANSWERS = 4;

/** The outcomes for people: a line for each attack, then what was found. */
export function renderOutcomes(outcomes: readonly Outcome[]): string {
  const heading = ["attack", "p50 ms", "p99 ms", "ratio", "failed", "others p99", "failed", "edge MiB", "answers"];
  const findings = outcomes.flatMap((outcome) => {
    const told = [...judgeOutcome(outcome), ...outcome.trouble.map((what) => `(not judged) ${what}`)];
    return told.map((what) => `${outcome.name}: ${what}`);
  });
  return [
    "The victim without → with each attack: inferences, and its other requests, once a second each.",
    "",
    renderTable([heading, ...outcomes.map(renderLine)]),
    JUDGEMENT,
    "",
    ...(findings.length === 0 ? ["Nothing was found."] : findings),
  ].join("\n");
}

function renderLine({ name, before, during, edge, answers }: Outcome): string[] {
  const [alone, attacked] = [before.inferences, during.inferences];
  return [
    name,
    `${renderMs(alone.p50Ms)} → ${renderMs(attacked.p50Ms)}`,
    `${renderMs(alone.p99Ms)} → ${renderMs(attacked.p99Ms)}`,
    alone.p99Ms === null || attacked.p99Ms === null ? "–" : `×${(attacked.p99Ms / alone.p99Ms).toFixed(1)}`,
    `${alone.failed}/${alone.sent} → ${attacked.failed}/${attacked.sent}`,
    `${renderMs(before.others.p99Ms)} → ${renderMs(during.others.p99Ms)}`,
    `${before.others.failed}/${before.others.sent} → ${during.others.failed}/${during.others.sent}`,
    edge.deaths > 0 ? `ended ×${edge.deaths}` : `${renderMib(edge.restBytes)} → ${renderMib(edge.peakBytes)}`,
    renderAnswers(answers),
  ];
}

function renderAnswers(answers: Outcome["answers"]): string {
  const all = Object.entries(answers).map(([answer, count]) => `${count}× ${answer}`);
  const further = all.length > NAMED_ANSWERS ? [`${all.length - NAMED_ANSWERS} more`] : [];
  return [...all.slice(0, NAMED_ANSWERS), ...further].join(", ");
}

function renderMs(ms: number | null): string {
  return ms === null ? "–" : ms.toFixed(ms < 10 ? 1 : 0);
}

function renderMib(bytes: number | null): string {
  return bytes === null ? "–" : String(Math.round(bytes / MIB));
}
