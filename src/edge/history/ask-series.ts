import { LIMITS } from "../../protocol/limits.ts";
import { ProblemError } from "../../protocol/problem.ts";
import type { SeriesSelector } from "../../protocol/series.ts";
import { configOf, type ProjectEnv } from "../config.ts";
import { openProject } from "../store/database.ts";
import { readSelection, type SelectedSeries, type Selection } from "../store/series-store.ts";
import { type HistoryWindow, resolveWindow } from "./history-window.ts";

/** What questions to several series have in common. */
interface Asked extends SeriesSelector {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly step?: string | undefined;
}

/** The series that a question means and the span that it is about, before any of their points is read. */
export interface AskedSeries {
  readonly series: readonly SelectedSeries[];
  readonly window: HistoryWindow;
  /** Changes with everything that would change what is read. */
  readonly state: unknown;
}

/** Finds what a question is about. More series than one may put together are refused: a part would mean something else. */
export async function askSeries(
  env: ProjectEnv,
  { from, to, step, ...asked }: Asked,
  nowMs: number,
): Promise<AskedSeries> {
  const selection = await readSelection(openProject(env), asked, LIMITS.queriedSeries);
  if (selection.series.length > LIMITS.queriedSeries) throw tooManySeries();
  const window = resolveWindow({ from, to, step }, configOf(env).retention, nowMs);
  return { series: selection.series, window, state: stateOf(selection, window) };
}

/**
 * What tells a state of the history from any other, as far as a question sees it: the series and how many points
 * ever came to each, and where something may have been forgotten, how often that happened.
 */
export function stateOf({ series, rollVersion, prunedSeq }: Selection, window: HistoryWindow): unknown {
  const forgotten = window.pieces === null ? prunedSeq : rollVersion;
  return [
    series.map(({ id, points, mutedAtMs }) => [id, points, mutedAtMs]),
    window.span,
    window.stepMs,
    window.isFading ? forgotten : null,
  ];
}

function tooManySeries(): ProblemError {
  const message = `must select fewer series, or other dimensions must: at most ${LIMITS.queriedSeries}`;
  return new ProblemError("invalid-request", `This means more than ${LIMITS.queriedSeries} series.`, {
    errors: [{ pointer: "query/series", message }],
  });
}
