import type { Diagnosis, HealthReport } from "../../protocol/fleet/health.ts";
import type { Runner } from "../../protocol/fleet/runner.ts";
import { Badge, DeviceNames } from "../ui/badges.tsx";
import { describeMachine, RUNNER_TONES } from "../../words/runners.ts";
import { formatMeasure, formatShare } from "../../words/numbers.ts";

interface RunnerTableProps {
  readonly runners: readonly Runner[];
  /** How they are, by id, as far as they said. */
  readonly diagnoses: ReadonlyMap<string, Diagnosis>;
  /** Id of the runner that is shown below. */
  readonly shown: string | null;
  readonly onShow: (id: string) => void;
}

/** The runners, each with what it does now. */
export function RunnerTable({ runners, diagnoses, shown, onShow }: RunnerTableProps) {
  return (
    <table class="fleet">
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">State</th>
          <th scope="col">Devices</th>
          <th scope="col">Utilisation</th>
          <th scope="col">Temperature</th>
          <th scope="col">Queue</th>
          <th scope="col">Findings</th>
          <th scope="col">Details</th>
        </tr>
      </thead>
      <tbody>
        {runners.map((runner) => (
          <RunnerRow
            key={runner.id}
            runner={runner}
            diagnosis={diagnoses.get(runner.id) ?? null}
            isShown={runner.id === shown}
            onShow={() => onShow(runner.id)}
          />
        ))}
      </tbody>
    </table>
  );
}

interface RunnerRowProps {
  readonly runner: Runner;
  readonly diagnosis: Diagnosis | null;
  readonly isShown: boolean;
  readonly onShow: () => void;
}

function RunnerRow({ runner, diagnosis, isShown, onShow }: RunnerRowProps) {
  const { capabilities, name, state, quarantine } = runner;
  const report = diagnosis?.report ?? null;
  return (
    <tr>
      <th scope="row">
        {name}
        <small title={runner.id}>
          {capabilities === null ? "has not connected yet" : describeMachine(capabilities.hardware)}
        </small>
      </th>
      <td data-label="State">
        <Badge tone={RUNNER_TONES[state]}>{state}</Badge>
        {quarantine !== null && <Badge tone="bad">quarantine</Badge>}
      </td>
      <td data-label="Devices" class="wide">
        <DeviceNames devices={capabilities?.devices ?? null} />
      </td>
      <td data-label="Utilisation">{report === null ? "–" : <Utilisation report={report} />}</td>
      <td data-label="Temperature">{report === null ? "–" : hottest(report)}</td>
      <td data-label="Queue">{report === null ? "–" : `${countWaiting(report)} waiting`}</td>
      <td data-label="Findings">
        {diagnosis === null && "–"}
        {diagnosis?.findings.length === 0 && "none"}
        {diagnosis !== null && diagnosis.findings.length > 0 && (
          <Badge tone="bad">{`${diagnosis.findings.length} open`}</Badge>
        )}
      </td>
      <td data-label="Details">
        <button type="button" aria-pressed={isShown} onClick={onShow}>
          Show<span class="unseen">{` the runner ${name}`}</span>
        </button>
      </td>
    </tr>
  );
}

function Utilisation({ report: { devices } }: { report: HealthReport }) {
  return (
    <ul class="devices">
      {devices.map(({ deviceKey, busyShare }) => (
        <li key={deviceKey}>
          <span class="device-kind">{deviceKey}</span> {formatShare(busyShare)}
        </li>
      ))}
    </ul>
  );
}

function hottest({ sensors }: HealthReport): string {
  const read = sensors.flatMap(({ temperatureC }) => temperatureC ?? []);
  return read.length === 0 ? "not readable" : formatMeasure(Math.max(...read), "°C");
}

function countWaiting({ devices }: HealthReport): number {
  return devices.reduce((sum, { waiting }) => sum + waiting, 0);
}
