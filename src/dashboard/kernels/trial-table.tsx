import type { TuningTrial } from "../../protocol/jobs/tuning.ts";
import { WordBadge } from "../ui/badges.tsx";
import { TRIAL_OUTCOMES } from "../../words/kinds/tuning.ts";
import { describeSizes, formatMeasure } from "../../words/numbers.ts";
import { medianOfLast } from "./trials.ts";
import { DataTable } from "../ui/data-table.tsx";

/** Every candidate with what became of it, and why. */
export function TrialTable({ trials }: { trials: readonly TuningTrial[] }) {
  return (
    <details>
      <summary>{`All ${trials.length} candidates as a table`}</summary>
      <DataTable
        class="trials"
        rows={trials}
        keyOf={({ variant, axes }) => `${variant} ${describeSizes(axes)}`}
        columns={[
          {
            name: "Candidate",
            head: true,
            cell: ({ variant, axes }) => (
              <>
                {variant} <span class="kind">{describeSizes(axes)}</span>
              </>
            ),
          },
          { name: "Outcome", cell: ({ outcome }) => <WordBadge says={TRIAL_OUTCOMES[outcome]} /> },
          { name: "Last rung", cell: (trial) => formatMeasure(medianOfLast(trial), "ms") },
          { name: "Runs by rung", cell: ({ rungsMs }) => rungsMs.map((runs) => runs.length).join(", ") || "–" },
          { name: "Reason", cell: ({ reason }) => reason ?? "–" },
        ]}
      />
    </details>
  );
}
