import type { OptimisationResult } from "../../protocol/jobs/optimisation.ts";
import { Badge } from "../ui/badges.tsx";
import { describeStanding } from "../../words/kinds/optimisation.ts";
import { formatBytes, formatMeasure, formatNumber } from "../../words/numbers.ts";
import { describeMiss, describeSettings, nameCandidate, nameTarget } from "../../words/validation.ts";
import { DataTable } from "../ui/data-table.tsx";

/** Every trial of an optimisation, in order. */
export function CandidateTable({ result }: { result: OptimisationResult }) {
  const { trials, targets } = result;
  return (
    <details>
      <summary>{`All ${trials.length} trials as a table`}</summary>
      <DataTable
        class="candidates"
        rows={trials}
        keyOf={(_, index) => index}
        columns={[
          {
            name: "Configuration",
            head: true,
            cell: ({ candidate }) => (
              <>
                {nameCandidate(candidate)} <span class="kind">{describeSettings(candidate)}</span>
              </>
            ),
          },
          {
            name: "Standing",
            cell: (_, index) => {
              const { tone, word } = describeStanding(result, index);
              return <Badge tone={tone}>{word}</Badge>;
            },
          },
          {
            name: "Throughput",
            cell: ({ throughputPerS }) => (throughputPerS === null ? "–" : `${formatNumber(throughputPerS)}/s`),
          },
          { name: nameTarget("latencyMs", targets), cell: ({ latencyMs }) => formatMeasure(latencyMs, "ms") },
          { name: "Memory", cell: ({ memoryBytes }) => formatBytes(memoryBytes) },
          {
            name: "Targets",
            wide: true,
            cell: ({ misses, problem }) =>
              problem?.detail ?? (misses.map((miss) => describeMiss(miss, targets)).join("; ") || "all reached"),
          },
        ]}
      />
    </details>
  );
}
