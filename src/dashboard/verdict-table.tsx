import type { Verdict } from "../protocol/requirement.ts";
import { Badge } from "./badge.tsx";
import {
  describeMargin,
  describeRange,
  describeRequirement,
  formatMetric,
  OUTCOMES,
  PATHS,
  SCENARIOS,
} from "./verdict-words.ts";

/** Every requirement with what was measured, how sure that is, and what came of it. */
export function VerdictTable({ verdicts }: { verdicts: readonly Verdict[] }) {
  if (verdicts.length === 0) return <p class="muted">Nothing was required: this run measured, and judges nothing.</p>;
  return (
    <table class="verdicts">
      <caption class="unseen">Requirements</caption>
      <thead>
        <tr>
          <th scope="col">Requirement</th>
          <th scope="col">Outcome</th>
          <th scope="col">Measured</th>
          <th scope="col">Margin</th>
          <th scope="col">Why</th>
        </tr>
      </thead>
      <tbody>
        {verdicts.map((verdict, index) => (
          <VerdictRow key={index} verdict={verdict} />
        ))}
      </tbody>
    </table>
  );
}

function VerdictRow({ verdict }: { verdict: Verdict }) {
  const { requirement, scenario, path, outcome, measured, detail } = verdict;
  const [tone, word] = OUTCOMES[outcome];
  const range = describeRange(verdict);
  const where = [scenario === null ? null : SCENARIOS[scenario], path === null ? null : PATHS[path]];
  return (
    <tr>
      <th scope="row">
        {describeRequirement(requirement)}
        <small>{where.filter(Boolean).join(", ") || "of the whole run"}</small>
      </th>
      <td data-label="Outcome">
        <Badge tone={tone}>{word}</Badge>
      </td>
      <td data-label="Measured">
        {measured === null ? "–" : formatMetric(requirement.metric, measured)}
        {range !== null && <small>{range}</small>}
      </td>
      <td data-label="Margin">{describeMargin(verdict)}</td>
      <td data-label="Why" class="wide">
        {detail}
      </td>
    </tr>
  );
}
