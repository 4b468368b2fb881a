import type { DirectOutcome } from "../../protocol/ticket.ts";
import type { RefusedRequest, RequestOutcome } from "../history/request-measurements.ts";
import type { Database } from "../store/database.ts";
import { readPlacementSubjects } from "../store/placement-store.ts";

/**
 * Outcomes of direct requests as those of requests that went through the edge. A runner can speak of its
 * own placements only; what these are the database says. Those that are gone by now are left out. How long a
 * refusal took is no time of the model, unless the budget ended: that it took at least so long.
 */
export async function toRequestOutcomes(
  db: Database,
  runnerId: string,
  outcomes: readonly DirectOutcome[],
): Promise<(RequestOutcome | RefusedRequest)[]> {
  const known = await readPlacementSubjects(db, runnerId, [...new Set(outcomes.map((each) => each.placementId))]);
  return outcomes.flatMap(({ placementId, rows, totalMs, times, refusedFor }) => {
    const about = known.get(placementId);
    if (about === undefined) return [];
    const outcome = {
      ...about,
      batch: rows,
      totalMs,
      totalClock: "runner-wall" as const,
      // Its own rows the runner does not tell: each counts as one.
      rows: times === null ? null : 1,
      split: times,
      forecast: null,
    };
    if (refusedFor === undefined) return [outcome];
    const refusal = { project: about.project, subject: about.subject, refusedFor };
    return refusedFor === "budget-exceeded" ? [outcome, refusal] : [refusal];
  });
}
