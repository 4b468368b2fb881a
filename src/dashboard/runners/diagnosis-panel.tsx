import { runnerEndpoints } from "../../protocol/fleet/runner-endpoints.ts";
import { useCallback } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import type { DiagnosisCheck, Finding } from "../../protocol/fleet/health.ts";
import type { Runner } from "../../protocol/fleet/runner.ts";
import { FINDING_WORDS } from "../../words/alerts.ts";
import { Badge, WordBadge } from "../ui/badges.tsx";
import { CHECK_OUTCOMES, CHECKS, formatQuantity, orderChecks } from "../../words/runners.ts";
import { FitLines } from "./fit-lines.tsx";
import { Panel } from "../ui/panels.tsx";
import { Timestamp } from "../ui/timestamp.tsx";
import { type Subscribe, useRefreshOn } from "../ui/hooks/use-feed.ts";
import { useResource } from "../ui/hooks/use-resource.ts";
import { DataTable } from "../ui/data-table.tsx";

interface DiagnosisPanelProps {
  readonly client: Client;
  readonly subscribe: Subscribe;
  readonly runner: Runner;
}

/** Asking costs the runner a report. */
const DIAGNOSIS_GAP_MS = 5_000;

/** State of a runner: the checklist with advice, findings of the watch, and its fit to each profile. */
export function DiagnosisPanel({ client, subscribe, runner }: DiagnosisPanelProps) {
  const { id, profiles } = runner;
  const diagnosis = useResource(
    useCallback(
      (signal: AbortSignal) => client.call(runnerEndpoints.getRunnerDiagnosis, { params: { id }, signal }),
      [client, id],
    ),
    DIAGNOSIS_GAP_MS,
  );
  useRefreshOn(subscribe, "alert", diagnosis.refresh);
  const { value, error } = diagnosis;
  return (
    <Panel
      id="diagnosis"
      title="Diagnosis"
      resource={diagnosis}
      aside={
        <span class="diagnosis-end">
          {value !== null && (
            <span class="muted">
              {value.fresh ? "told at " : "last told at "}
              <Timestamp at={value.reportedAt} />
            </span>
          )}
          <button type="button" onClick={diagnosis.refresh}>
            Ask again
          </button>
        </span>
      }
    >
      <div class="judged">
        {value === null && error === null && <p class="muted loading">Asking the runner …</p>}
        {value !== null && (
          <>
            <p>
              <Badge tone={value.healthy ? "good" : "bad"}>{value.healthy ? "healthy" : "not healthy"}</Badge>
            </p>
            <Findings findings={value.findings} />
            <Checklist checks={value.checks} />
          </>
        )}
        <FitLines client={client} runnerId={id} fits={profiles} />
      </div>
    </Panel>
  );
}

function Findings({ findings }: { findings: readonly Finding[] }) {
  if (findings.length === 0) return null;
  return (
    <ul class="findings">
      {findings.map(({ kind, subject, deviceKey, detail, advice, since }) => (
        <li key={`${kind} ${subject ?? deviceKey}`}>
          <strong class="bad">{FINDING_WORDS[kind]}</strong> {subject ?? deviceKey} <span class="muted">since </span>
          <Timestamp at={since} />
          <p>{detail}</p>
          <p>
            <strong>Advice: </strong>
            {advice}
          </p>
        </li>
      ))}
    </ul>
  );
}

function Checklist({ checks }: { checks: readonly DiagnosisCheck[] }) {
  return (
    <DataTable
      class="checks"
      caption="Checklist"
      rows={orderChecks(checks)}
      keyOf={(_, index) => index}
      columns={[
        { name: "Check", head: true, cell: ({ check }) => CHECKS[check], note: ({ deviceKey }) => deviceKey },
        { name: "Outcome", cell: ({ outcome }) => <WordBadge says={CHECK_OUTCOMES[outcome]} /> },
        { name: "Measured", cell: ({ measured, unit }) => formatQuantity(measured, unit) },
        { name: "Limit", cell: ({ limit, unit }) => formatQuantity(limit, unit) },
        {
          name: "What it says, and what to change",
          label: "Detail",
          wide: true,
          cell: ({ detail, outcome, advice }) => (
            <>
              {detail}
              {outcome === "fail" && advice !== null && <small class="advice">{advice}</small>}
            </>
          ),
        },
      ]}
    />
  );
}
