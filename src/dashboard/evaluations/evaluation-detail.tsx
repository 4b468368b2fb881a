import { plotEndpoints } from "../../protocol/models/plot-endpoints.ts";
import type { Client } from "../../client/client.ts";
import type { EvaluatedEntrant, EvaluationResult } from "../../protocol/jobs/evaluation/evaluation.ts";
import type { Estimate } from "../../protocol/wire/distribution.ts";
import { Fact, FactList } from "../ui/panels.tsx";
import { describeCauses, describeRollout } from "../../words/kinds/evaluation.ts";
import { describeEstimate } from "../../words/kinds/kind.ts";
import { formatNumber, PAGE_NUMBERS } from "../../words/numbers.ts";
import { MarkedName } from "../ui/badges.tsx";
import { SvgPlot } from "../plots/svg-plot.tsx";
import { DataTable } from "../ui/data-table.tsx";

interface EvaluationDetailProps {
  readonly client: Client;
  readonly runId: string;
  readonly result: EvaluationResult;
}

/** Result of an evaluation: scores with intervals, causes of episode ends, profiles and speed. */
export function EvaluationDetail({ client, runId, result }: EvaluationDetailProps) {
  const { entrants } = result;
  return (
    <>
      <ScoreTable result={result} />
      <p class="muted">
        {`In brackets 95 % intervals. Return ${formatNumber(result.scores.worst)} normalises to 0, ${formatNumber(result.scores.best)} to 1.`}
      </p>
      {entrants.map((entrant) => (
        <Failures key={entrant.name} entrant={entrant} />
      ))}
      {entrants.some(({ scores }) => scores !== null) && (
        <SvgPlot client={client} endpoint={plotEndpoints.plotProfile} id={runId} />
      )}
      <EvaluationFacts result={result} />
    </>
  );
}

function ScoreTable({ result: { entrants } }: { readonly result: EvaluationResult }) {
  return (
    <DataTable
      class="scores"
      caption="Scores"
      rows={entrants}
      keyOf={({ name }) => name}
      columns={[
        {
          name: "Policy",
          head: true,
          cell: ({ name }) => name,
          note: ({ members }) => members > 1 && `${formatNumber(members)} members`,
        },
        { name: "Mean return", cell: ({ scores }) => showEstimate(scores?.mean) },
        { name: "Interquartile mean", cell: ({ scores }) => showEstimate(scores?.iqm) },
        { name: "Median", cell: ({ scores }) => showEstimate(scores?.median) },
        { name: "Optimality gap", cell: ({ scores }) => showEstimate(scores?.optimalityGap) },
        {
          name: "Ended by",
          cell: ({ causes }) => describeCauses(causes, PAGE_NUMBERS),
          note: ({ meanLength }) => meanLength !== null && `${formatNumber(meanLength)} steps on average`,
        },
      ]}
    />
  );
}

function showEstimate(estimate: Estimate | undefined): string {
  return estimate === undefined ? "–" : describeEstimate(estimate, PAGE_NUMBERS);
}

function Failures({ entrant: { name, failed, failedMembers } }: { readonly entrant: EvaluatedEntrant }) {
  const [first] = failed;
  if (first === undefined) return null;
  return (
    <p class="notice bad">
      {`Of ${name} ${formatNumber(failedMembers)} failed and count in no score; the first, member ${first.member}, ${first.reason}.`}
    </p>
  );
}

function EvaluationFacts({ result }: { readonly result: EvaluationResult }) {
  const { environment, entrants } = result;
  const resamples = entrants.find(({ scores }) => scores !== null)?.scores?.resamples;
  return (
    <dl class="facts">
      <Fact name="Where">
        <MarkedName name={environment.deviceName} software={environment.software} />
      </Fact>
      <FactList facts={describeRollout(result, PAGE_NUMBERS)} />
      {resamples !== undefined && <Fact name="Bootstrap">{`${formatNumber(resamples)} resamples`}</Fact>}
    </dl>
  );
}
