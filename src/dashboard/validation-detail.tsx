import type { Client } from "../client/client.ts";
import { endpoints } from "../protocol/endpoints.ts";
import type { ValidationResult } from "../protocol/validation.ts";
import { Fact } from "./fact.tsx";
import { formatBytes, formatMeasure, formatShare } from "./format.ts";
import { ScenarioTable } from "./scenario-table.tsx";
import { SoftwareBadge } from "./software-badge.tsx";
import { SvgPlot } from "./svg-plot.tsx";
import { VerdictTable } from "./verdict-table.tsx";

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
