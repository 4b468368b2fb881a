import type { DirectOutcome } from "../../protocol/ticket.ts";
import type { RequestOutcome } from "../history/request-measurements.ts";
import type { Database } from "../store/database.ts";
import { readPlacementSubjects } from "../store/placement-store.ts";

/**
 * Outcomes of direct requests as those of requests that went through the edge. A runner can speak of its
 * own placements only; what these are the database says. Those that are gone by now are left out.
 */
export async function toRequestOutcomes(
  db: Database,
  runnerId: string,
  outcomes: readonly DirectOutcome[],
): Promise<RequestOutcome[]> {
  const known = await readPlacementSubjects(db, runnerId, [...new Set(outcomes.map((each) => each.placementId))]);
  return outcomes.flatMap(({ placementId, rows, totalMs, times }): RequestOutcome[] => {
    const about = known.get(placementId);
    if (about === undefined) return [];
    // Its own rows the runner does not tell: each counts as one.
    const answered = { rows: times === null ? null : 1, split: times, forecast: null };
    return [{ ...about, batch: rows, totalMs, totalClock: "runner-wall", ...answered }];
  });
}
