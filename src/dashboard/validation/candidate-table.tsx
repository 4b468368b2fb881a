import type { OptimisationResult, OptimisationTrial } from "../../protocol/jobs/optimisation.ts";
import { Badge } from "../ui/badges.tsx";
import type { Judged } from "../../words/kinds/kind.ts";
import { describeStanding } from "../../words/kinds/optimisation.ts";
import { formatBytes, formatMeasure, formatNumber } from "../../words/numbers.ts";
import { describeMiss, describeSettings, nameCandidate, nameTarget } from "../../words/validation.ts";

/** Every trial of an optimisation, in order. */
export function CandidateTable({ result }: { result: OptimisationResult }) {
  const { trials, targets } = result;
  const latency = nameTarget("latencyMs", targets);
  return (
    <details>
      <summary>{`All ${trials.length} trials as a table`}</summary>
      <table class="candidates">
        <thead>
          <tr>
            <th scope="col">Configuration</th>
            <th scope="col">Standing</th>
            <th scope="col">Throughput</th>
            <th scope="col">{latency}</th>
            <th scope="col">Memory</th>
            <th scope="col">Targets</th>
          </tr>
        </thead>
        <tbody>
          {trials.map((trial, index) => (
            <CandidateRow key={index} trial={trial} result={result} standing={describeStanding(result, index)} />
          ))}
        </tbody>
      </table>
    </details>
  );
}

interface CandidateRowProps {
  readonly trial: OptimisationTrial;
  readonly result: OptimisationResult;
  readonly standing: Judged;
}

function CandidateRow({ trial, result: { targets }, standing: { tone, word } }: CandidateRowProps) {
  const { candidate, throughputPerS, latencyMs, memoryBytes, misses, problem } = trial;
  const missed = misses.map((miss) => describeMiss(miss, targets)).join("; ");
  return (
    <tr>
      <th scope="row">
        {nameCandidate(candidate)} <span class="kind">{describeSettings(candidate)}</span>
      </th>
      <td data-label="Standing">
        <Badge tone={tone}>{word}</Badge>
      </td>
      <td data-label="Throughput">{throughputPerS === null ? "–" : `${formatNumber(throughputPerS)}/s`}</td>
      <td data-label={nameTarget("latencyMs", targets)}>{formatMeasure(latencyMs, "ms")}</td>
      <td data-label="Memory">{formatBytes(memoryBytes)}</td>
      <td data-label="Targets" class="wide">
        {problem?.detail ?? (missed || "all reached")}
      </td>
    </tr>
  );
}
