import type { Client } from "../../client/client.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import type { OptimisationResult, OptimisationTrial } from "../../protocol/jobs/optimisation.ts";
import { Badge } from "../ui/badges.tsx";
import { CandidateTable } from "./candidate-table.tsx";
import { describeTried } from "../../words/kinds/optimisation.ts";
import { formatBytes, formatMeasure, formatNumber, formatShare } from "../../words/numbers.ts";
import {
  describeSettings,
  formatTarget,
  listTargets,
  nameCandidate,
  nameTarget,
  OUTCOMES,
} from "../../words/validation.ts";
import { SvgPlot } from "../plots/svg-plot.tsx";

interface OptimisationDetailProps {
  readonly client: Client;
  readonly runId: string;
  readonly result: OptimisationResult;
}

/** What an optimisation found: the best beside the default, or what comes nearest and why it is not enough. */
export function OptimisationDetail({ client, runId, result }: OptimisationDetailProps) {
  const { trials, targets, applied, infeasible } = result;
  const shown = trials[result.best ?? infeasible?.nearest ?? -1];
  const own = trials[result.default ?? -1];
  const isMeasured = trials.some(({ outcome }) => outcome === "measured");
  return (
    <>
      {infeasible !== null && (
        <p class="notice bad">
          <strong>Infeasible.</strong> {infeasible.detail}
        </p>
      )}
      <p>{`Tried: ${describeTried(result)}.`}</p>
      {shown !== undefined && <TargetTable result={result} trial={shown} />}
      {shown !== undefined && (
        <BestTable best={shown} own={own} name={infeasible === null ? "Best" : "Nearest"} targets={targets} />
      )}
      {applied !== null && <p>{applied.detail}</p>}
      {isMeasured && <SvgPlot client={client} endpoint={endpoints.plotFront} id={runId} />}
      <CandidateTable result={result} />
    </>
  );
}

function TargetTable({ result: { targets }, trial }: { result: OptimisationResult; trial: OptimisationTrial }) {
  const lines = listTargets(targets, trial);
  if (lines.length === 0) return null;
  return (
    <table class="targets">
      <caption class="unseen">Targets</caption>
      <thead>
        <tr>
          <th scope="col">Target</th>
          <th scope="col">Wanted</th>
          <th scope="col">Found</th>
          <th scope="col">Outcome</th>
        </tr>
      </thead>
      <tbody>
        {lines.map(({ target, wanted, found, met }) => {
          const [tone, word] = OUTCOMES[met ? "pass" : "fail"];
          const sign = target === "latencyMs" || target === "memoryBytes" ? "≤" : "≥";
          return (
            <tr key={target}>
              <th scope="row">{nameTarget(target, targets)}</th>
              <td data-label="Wanted">{`${sign} ${formatTarget(target, wanted)}`}</td>
              <td data-label="Found">{found === null ? "–" : formatTarget(target, found)}</td>
              <td data-label="Outcome">
                <Badge tone={tone}>{word}</Badge>
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

interface BestTableProps {
  readonly best: OptimisationTrial;
  readonly own: OptimisationTrial | undefined;
  readonly name: string;
  readonly targets: OptimisationResult["targets"];
}

/** The best or nearest trial beside what the placement is served as now. */
function BestTable({ best, own, name, targets }: BestTableProps) {
  const latency = nameTarget("latencyMs", targets);
  const rows = [{ name, trial: best }, ...(own === undefined ? [] : [{ name: "Default", trial: own }])];
  return (
    <table class="bests">
      <caption class="unseen">{`${name} and default`}</caption>
      <thead>
        <tr>
          <th scope="col">Configuration</th>
          <th scope="col">Throughput</th>
          <th scope="col">{latency}</th>
          <th scope="col">Memory</th>
          <th scope="col">Fidelity</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name: of, trial }) => (
          <tr key={of}>
            <th scope="row">
              {`${of}: ${nameCandidate(trial.candidate)}`}
              <small>{describeSettings(trial.candidate)}</small>
            </th>
            <td data-label="Throughput">
              {perSecond(trial.throughputPerS)}
              {of !== "Default" && <Gain value={ratio(trial.throughputPerS, own?.throughputPerS)} />}
            </td>
            <td data-label={latency}>
              {trial.latencyMs === null ? "–" : formatMeasure(trial.latencyMs, "ms")}
              {of !== "Default" && <Gain value={ratio(trial.latencyMs, own?.latencyMs)} />}
            </td>
            <td data-label="Memory">{trial.memoryBytes === null ? "–" : formatBytes(trial.memoryBytes)}</td>
            <td data-label="Fidelity">{trial.fidelity === null ? "–" : formatShare(trial.fidelity)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function perSecond(value: number | null): string {
  return value === null ? "–" : `${formatNumber(value)}/s`;
}

function ratio(value: number | null, own: number | null | undefined): number | null {
  return value === null || own === null || own === undefined || own === 0 ? null : value / own;
}

function Gain({ value }: { value: number | null }) {
  return value === null ? null : <small>{`${formatNumber(value)} × the default's`}</small>;
}
