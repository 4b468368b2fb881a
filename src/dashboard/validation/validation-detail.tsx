import { plotEndpoints } from "../../protocol/models/plot-endpoints.ts";
import type { Client } from "../../client/client.ts";
import type { ValidationResult } from "../../protocol/jobs/validation.ts";
import type { Verdict } from "../../protocol/models/requirement.ts";
import { describeLoad, describeServing } from "../../words/kinds/validation.ts";
import { PAGE_NUMBERS } from "../../words/numbers.ts";
import { describeMargin, describeRange, describeRequirement, formatMetric, OUTCOMES } from "../../words/validation.ts";
import { SvgPlot } from "../plots/svg-plot.tsx";
import { MarkedName, WordBadge } from "../ui/badges.tsx";
import { Fact, FactList } from "../ui/panels.tsx";
import { ScenarioTable } from "./scenario-table.tsx";
import { DataTable } from "../ui/data-table.tsx";

/** Every requirement with what was measured, how sure that is, and what came of it. */
function VerdictTable({ verdicts }: { verdicts: readonly Verdict[] }) {
  if (verdicts.length === 0) return <p class="muted">Nothing was required: this run measured, and judges nothing.</p>;
  return (
    <DataTable
      class="verdicts"
      caption="Requirements"
      rows={verdicts}
      keyOf={(_, index) => index}
      columns={[
        {
          name: "Requirement",
          head: true,
          cell: ({ requirement }) => describeRequirement(requirement),
          note: describeLoad,
        },
        { name: "Outcome", cell: ({ outcome }) => <WordBadge says={OUTCOMES[outcome]} /> },
        {
          name: "Measured",
          cell: ({ requirement, measured }) => (measured === null ? "–" : formatMetric(requirement.metric, measured)),
          note: (verdict) => describeRange(verdict),
        },
        { name: "Margin", cell: describeMargin },
        { name: "Why", wide: true, cell: ({ detail }) => detail },
      ]}
    />
  );
}

interface ValidationDetailProps {
  readonly client: Client;
  readonly runId: string;
  readonly result: ValidationResult;
}

/** Result of a validation: each requirement, each scenario, and the curve of each server. */
export function ValidationDetail({ client, runId, result }: ValidationDetailProps) {
  const { verdicts, scenarios } = result;
  return (
    <>
      <ValidationFacts result={result} />
      <VerdictTable verdicts={verdicts} />
      <ScenarioTable scenarios={scenarios} />
      {scenarios.map(
        ({ server }, index) =>
          server !== null &&
          server.curve.length > 0 && (
            <SvgPlot key={index} client={client} endpoint={plotEndpoints.plotCurve} id={runId} scenario={index} />
          ),
      )}
    </>
  );
}

function ValidationFacts({ result }: { result: ValidationResult }) {
  const { place, environment } = result;
  const name = `${place.variant} by ${place.backend} on ${environment.deviceName}`;
  return (
    <dl class="facts">
      <Fact name="What">
        <MarkedName name={name} software={environment.software} />
      </Fact>
      <FactList facts={describeServing(result, PAGE_NUMBERS)} />
    </dl>
  );
}
