import { plotEndpoints } from "../../protocol/models/plot-endpoints.ts";
import type { Client } from "../../client/client.ts";
import type { OptimisationResult, OptimisationTrial } from "../../protocol/jobs/optimisation.ts";
import { WordBadge } from "../ui/badges.tsx";
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
import { DataTable } from "../ui/data-table.tsx";

interface OptimisationDetailProps {
  readonly client: Client;
  readonly runId: string;
  readonly result: OptimisationResult;
}

/** Result of an optimisation: the best beside the default, or the nearest miss and its cause. */
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
      {isMeasured && <SvgPlot client={client} endpoint={plotEndpoints.plotFront} id={runId} />}
      <CandidateTable result={result} />
    </>
  );
}

function TargetTable({ result: { targets }, trial }: { result: OptimisationResult; trial: OptimisationTrial }) {
  const lines = listTargets(targets, trial);
  if (lines.length === 0) return null;
  return (
    <DataTable
      class="targets"
      caption="Targets"
      rows={lines}
      keyOf={({ target }) => target}
      columns={[
        { name: "Target", head: true, cell: ({ target }) => nameTarget(target, targets) },
        { name: "Wanted", cell: ({ target, wanted }) => `${SIGNS[target]} ${formatTarget(target, wanted)}` },
        { name: "Found", cell: ({ target, found }) => (found === null ? "–" : formatTarget(target, found)) },
        { name: "Outcome", cell: ({ met }) => <WordBadge says={OUTCOMES[met ? "pass" : "fail"]} /> },
      ]}
    />
  );
}

const SIGNS = { latencyMs: "≤", memoryBytes: "≤", throughputPerS: "≥", minFidelity: "≥" } as const;

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
    <DataTable
      class="bests"
      caption={`${name} and default`}
      rows={rows}
      keyOf={({ name: of }) => of}
      columns={[
        {
          name: "Configuration",
          head: true,
          cell: ({ name: of, trial }) => `${of}: ${nameCandidate(trial.candidate)}`,
          note: ({ trial }) => describeSettings(trial.candidate),
        },
        {
          name: "Throughput",
          cell: ({ name: of, trial }) => (
            <>
              {perSecond(trial.throughputPerS)}
              {of !== "Default" && <Gain value={ratio(trial.throughputPerS, own?.throughputPerS)} />}
            </>
          ),
        },
        {
          name: latency,
          cell: ({ name: of, trial }) => (
            <>
              {trial.latencyMs === null ? "–" : formatMeasure(trial.latencyMs, "ms")}
              {of !== "Default" && <Gain value={ratio(trial.latencyMs, own?.latencyMs)} />}
            </>
          ),
        },
        { name: "Memory", cell: ({ trial }) => (trial.memoryBytes === null ? "–" : formatBytes(trial.memoryBytes)) },
        { name: "Fidelity", cell: ({ trial }) => (trial.fidelity === null ? "–" : formatShare(trial.fidelity)) },
      ]}
    />
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
