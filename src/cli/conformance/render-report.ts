import type { Tone } from "../../words/tone.ts";
import { paint, renderTable } from "../render/render-table.ts";
import type { Canvas } from "../shell/shell.ts";
import { inMs, type Judgement } from "./judgement.ts";
import type { Baseline } from "./measure-baseline.ts";
import { PROPERTIES, type Property } from "./properties.ts";

/** Outcome of a run of the suite. */
export interface ConformanceReport {
  readonly exitCode: number;
  readonly url: string;
  readonly atIso: string;
  readonly durationS: number;
  readonly requests: number;
  readonly baseline: Baseline;
  readonly deadlineMs: number;
  readonly toleranceMs: number;
  readonly properties: (Judgement & { readonly property: Property })[];
}

const WORDS = { passed: "passed", failed: "FAILED", untold: "cannot be told" } as const;
const TONES = { passed: "good", failed: "bad", untold: "warn" } as const satisfies Record<Judgement["verdict"], Tone>;

/** 0: every property passed; 1: one failed; 3: none failed, and one cannot be told. */
export function exitCodeOf(properties: readonly Judgement[]): 0 | 1 | 3 {
  if (properties.some(({ verdict }) => verdict === "failed")) return 1;
  return properties.every(({ verdict }) => verdict === "passed") ? 0 : 3;
}

/** The verdicts as a table, then how each was judged. */
export function renderReport(report: ConformanceReport, canvas: Canvas): string {
  const { url, baseline, deadlineMs, toleranceMs, properties, requests, durationS } = report;
  const { idleP50Ms, capacityPerSecond, callers } = baseline;
  const rows = properties.map(({ property, verdict, figures }) => [
    PROPERTIES[property].title,
    WORDS[verdict],
    writeFigures(figures),
  ]);
  const table = renderTable([["property", "verdict", "figures"], ...rows], canvas.columns, (text, row, column) => {
    const judged = properties[row - 1];
    return paint(canvas, column === 1 && judged !== undefined ? TONES[judged.verdict] : undefined, text);
  });
  const sentences = properties.map(({ property, sentence }) => `${PROPERTIES[property].title}: ${sentence}\n`);
  const head =
    `${url}: ${inMs(idleP50Ms)} idle, ${capacityPerSecond.toFixed(1)} answers a second to ${callers} callers; ` +
    `deadline ${inMs(deadlineMs)} + ${inMs(toleranceMs)}; ${requests.toLocaleString("en")} requests in ${Math.round(durationS)} s\n`;
  return `${head}\n${table}\n${sentences.join("")}`;
}

function writeFigures(figures: Judgement["figures"]): string {
  const known = Object.entries(figures).flatMap(([name, value]) =>
    value === null ? [] : [`${name} ${Number(value.toPrecision(4))}`],
  );
  return known.length === 0 ? "–" : known.join(", ");
}
