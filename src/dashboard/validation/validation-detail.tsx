import type { Client } from "../../client/client.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import type { ValidationResult } from "../../protocol/jobs/validation.ts";
import type { Verdict } from "../../protocol/models/requirement.ts";
import { describeLoad } from "../../words/kinds/validation.ts";
import { formatBytes, formatMeasure, formatShare } from "../../words/numbers.ts";
import { describeMargin, describeRange, describeRequirement, formatMetric, OUTCOMES } from "../../words/validation.ts";
import { SvgPlot } from "../plots/svg-plot.tsx";
import { SoftwareBadge, WordBadge } from "../ui/badges.tsx";
import { Fact } from "../ui/panels.tsx";
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

/** What a validation found: each requirement, each scenario, and the curve of each server. */
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
            <SvgPlot key={index} client={client} endpoint={endpoints.plotCurve} id={runId} scenario={index} />
          ),
      )}
    </>
  );
}

function ValidationFacts({ result }: { result: ValidationResult }) {
  const { place, startup, memory, artifactBytes, fidelity, environment } = result;
  const { configuration } = place;
  return (
    <dl class="facts">
      <Fact name="What">
        {`${place.variant} by ${place.backend} on ${environment.deviceName}`}{" "}
        {environment.software && <SoftwareBadge />}
      </Fact>
      {configuration !== null && (
        <Fact name="Configuration">
          {`threads ${configuration.threads}, rows ${configuration.maxRows ?? "as measured"}, in flight ${configuration.maxInFlight ?? "as the queue takes"}`}
        </Fact>
      )}
      <Fact name="Start-up">{`${formatMeasure(startup.loadMs, "ms")} to load, ${formatMeasure(startup.firstAnswerMs, "ms")} to answer`}</Fact>
      <Fact name="Memory of the process">
        {memory.hostPeakBytes === null ? "not known" : `${formatBytes(memory.hostPeakBytes)} at its peak`}
      </Fact>
      {memory.gpuPeakBytes !== null && <Fact name="Memory on the GPU">{formatBytes(memory.gpuPeakBytes)}</Fact>}
      {artifactBytes !== null && <Fact name="Artifact">{formatBytes(artifactBytes)}</Fact>}
      {fidelity !== null && <Fact name="Fidelity">{formatShare(fidelity)}</Fact>}
    </dl>
  );
}
