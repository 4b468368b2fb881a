import { useCallback } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import type { DiagnosisCheck, Finding } from "../../protocol/fleet/health.ts";
import type { Runner } from "../../protocol/fleet/runner.ts";
import { FINDING_WORDS } from "../../words/alerts.ts";
import { Badge } from "../ui/badges.tsx";
import { CHECK_OUTCOMES, CHECKS, formatQuantity, orderChecks } from "../../words/runners.ts";
import { FitLines } from "./fit-lines.tsx";
import { Panel } from "../ui/panels.tsx";
import { Timestamp } from "../ui/timestamp.tsx";
import { type Subscribe, useRefreshOn } from "../ui/hooks/use-feed.ts";
import { useResource } from "../ui/hooks/use-resource.ts";

interface DiagnosisPanelProps {
  readonly client: Client;
  readonly subscribe: Subscribe;
  readonly runner: Runner;
}

/** Asking costs the runner a report. */
const DIAGNOSIS_GAP_MS = 5_000;

/** How a runner is now: the checklist with what to change, what the watch found, and how it fits each profile. */
export function DiagnosisPanel({ client, subscribe, runner }: DiagnosisPanelProps) {
  const { id, profiles } = runner;
  const diagnosis = useResource(
    useCallback(
      (signal: AbortSignal) => client.call(endpoints.getRunnerDiagnosis, { params: { id }, signal }),
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
    <table class="checks">
      <caption class="unseen">Checklist</caption>
      <thead>
        <tr>
          <th scope="col">Check</th>
          <th scope="col">Outcome</th>
          <th scope="col">Measured</th>
          <th scope="col">Limit</th>
          <th scope="col">What it says, and what to change</th>
        </tr>
      </thead>
      <tbody>
        {orderChecks(checks).map((check, index) => (
          <CheckRow key={index} check={check} />
        ))}
      </tbody>
    </table>
  );
}

function CheckRow({ check: line }: { check: DiagnosisCheck }) {
  const { check, deviceKey, measured, limit, unit, outcome, detail, advice } = line;
  const [tone, word] = CHECK_OUTCOMES[outcome];
  return (
    <tr>
      <th scope="row">
        {CHECKS[check]}
        {deviceKey !== null && <small>{deviceKey}</small>}
      </th>
      <td data-label="Outcome">
        <Badge tone={tone}>{word}</Badge>
      </td>
      <td data-label="Measured">{formatQuantity(measured, unit)}</td>
      <td data-label="Limit">{formatQuantity(limit, unit)}</td>
      <td data-label="Detail" class="wide">
        {detail}
        {outcome === "fail" && advice !== null && <small class="advice">{advice}</small>}
      </td>
    </tr>
  );
}
