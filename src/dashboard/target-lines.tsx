import type { RunnerFit } from "../protocol/profile.ts";
import { Badge } from "./badge.tsx";
import { CHECK_OUTCOMES } from "./diagnosis-words.ts";
import { formatBytes, formatMeasure, formatNumber } from "./format.ts";
import { OutcomeTable } from "./outcome-table.tsx";

type Target = RunnerFit["targets"][number];

const NAMES: Record<Target["target"], string> = {
  latencyMs: "latency",
  throughputRps: "throughput",
  memoryBytes: "memory",
};

/** How far the placements of a runner reach the targets of a profile. */
export function TargetLines({ profile, targets }: { profile: string; targets: readonly Target[] }) {
  if (targets.length === 0)
    return <p class="muted">Nothing is measured here that its targets could be held against.</p>;
  return (
    <OutcomeTable caption={`Targets of ${profile}`} of="Target">
      {targets.map((line) => (
        <TargetRow key={`${line.target} ${line.placementId}`} line={line} />
      ))}
    </OutcomeTable>
  );
}

function TargetRow({ line: { target, subject, wanted, found, ok, mend } }: { line: Target }) {
  const [tone, word] = CHECK_OUTCOMES[ok === null ? "unknown" : ok ? "pass" : "fail"];
  return (
    <tr>
      <th scope="row">
        {NAMES[target]}
        {subject !== null && <small>{subject}</small>}
      </th>
      <td data-label="Wanted">{formatWanted(target, wanted)}</td>
      <td data-label="Found">{found}</td>
      <td data-label="Outcome">
        <Badge tone={tone}>{word}</Badge>
        {mend !== null && <small class="advice">{mend}</small>}
      </td>
    </tr>
  );
}

function formatWanted(target: Target["target"], wanted: number): string {
  if (target === "memoryBytes") return `≤ ${formatBytes(wanted)}`;
  return target === "latencyMs" ? `≤ ${formatMeasure(wanted, "ms")}` : `≥ ${formatNumber(wanted)}/s`;
}
