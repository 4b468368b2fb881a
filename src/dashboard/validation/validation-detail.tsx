import type { Client } from "../../client/client.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import type { ValidationResult } from "../../protocol/jobs/validation.ts";
import type { Verdict } from "../../protocol/models/requirement.ts";
import { describeLoad } from "../../words/kinds/validation.ts";
import { formatBytes, formatMeasure, formatShare } from "../../words/numbers.ts";
import { describeMargin, describeRange, describeRequirement, formatMetric, OUTCOMES } from "../../words/validation.ts";
import { SvgPlot } from "../plots/svg-plot.tsx";
import { Badge, SoftwareBadge } from "../ui/badges.tsx";
import { Fact } from "../ui/panels.tsx";
import { ScenarioTable } from "./scenario-table.tsx";

/** Every requirement with what was measured, how sure that is, and what came of it. */
function VerdictTable({ verdicts }: { verdicts: readonly Verdict[] }) {
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
  const { requirement, outcome, measured, detail } = verdict;
  const [tone, word] = OUTCOMES[outcome];
  const range = describeRange(verdict);
  return (
    <tr>
      <th scope="row">
        {describeRequirement(requirement)}
        <small>{describeLoad(verdict)}</small>
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
