import { createRow, type PeerResult, type Row, type RowContext } from "../row.ts";
import type { SearchOutcome } from "./search-kernel.ts";
import type { Choice } from "./tuner-case.ts";

/** Choice of a rival, or the reason why it has none. */
export type Rival = { readonly choice: Partial<Choice> } | { readonly reason: string };

const COSTS = {
  runs: { unit: "runs", better: "lower" },
  search: { unit: "ms", better: "lower" },
} as const;

/** Cost of searching against timing everything, and the results of both: nothing where a budget cut it short. */
export function compareSearches(
  row: RowContext,
  ours: readonly SearchOutcome[],
  theirs: readonly SearchOutcome[],
): { readonly rows: Row[]; readonly exhaustive: Rival } {
  const isCut = theirs.some(({ complete }) => !complete);
  const reason = "its budget ended before it had timed everything";
  const costsOf = (outcomes: readonly SearchOutcome[]) => ({
    runs: outcomes.map(({ runs }) => runs),
    search: outcomes.map(({ spentMs }) => spentMs),
  });
  const [a, b] = [costsOf(ours), costsOf(theirs)];
  const rows = (["runs", "search"] as const).map((metric) => {
    const result: PeerResult = isCut ? { reason } : { values: b[metric] };
    return createRow(row, [metric, COSTS[metric]], a[metric], { name: "exhaustive", ...result });
  });
  return { rows, exhaustive: isCut ? { reason } : { choice: theirs[0]?.best ?? {} } };
}
