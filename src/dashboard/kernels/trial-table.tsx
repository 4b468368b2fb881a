import type { TuningTrial } from "../../protocol/jobs/tuning.ts";
import { Badge } from "../ui/badges.tsx";
import { TRIAL_OUTCOMES } from "../../words/kinds/tuning.ts";
import { describeSizes, formatMeasure } from "../../words/numbers.ts";
import { medianOfLast } from "./trials.ts";

/** Every candidate with what became of it, and why. */
export function TrialTable({ trials }: { trials: readonly TuningTrial[] }) {
  return (
    <details>
      <summary>{`All ${trials.length} candidates as a table`}</summary>
      <table class="trials">
        <thead>
          <tr>
            <th scope="col">Candidate</th>
            <th scope="col">Outcome</th>
            <th scope="col">Last rung</th>
            <th scope="col">Runs by rung</th>
            <th scope="col">Reason</th>
          </tr>
        </thead>
        <tbody>
          {trials.map((trial) => (
            <TrialRow key={`${trial.variant} ${describeSizes(trial.axes)}`} trial={trial} />
          ))}
        </tbody>
      </table>
    </details>
  );
}

function TrialRow({ trial }: { trial: TuningTrial }) {
  const { variant, axes, outcome, reason, rungsMs } = trial;
  const ms = medianOfLast(trial);
  const [tone, word] = TRIAL_OUTCOMES[outcome];
  return (
    <tr>
      <th scope="row">
        {variant} <span class="kind">{describeSizes(axes)}</span>
      </th>
      <td data-label="Outcome">
        <Badge tone={tone}>{word}</Badge>
      </td>
      <td data-label="Last rung">{ms === null ? "–" : formatMeasure(ms, "ms")}</td>
      <td data-label="Runs by rung">{rungsMs.map((runs) => runs.length).join(", ") || "–"}</td>
      <td data-label="Reason">{reason ?? "–"}</td>
    </tr>
  );
}
