import type { Diagnosis, HealthReport } from "../../protocol/fleet/health.ts";
import type { Runner } from "../../protocol/fleet/runner.ts";
import { Badge, DeviceNames } from "../ui/badges.tsx";
import { describeMachine, RUNNER_TONES } from "../../words/runners.ts";
import { formatMeasure, formatShare } from "../../words/numbers.ts";
import { ShowButton } from "../ui/buttons.tsx";
import type { ComponentChildren } from "preact";
import { DataTable } from "../ui/data-table.tsx";

interface RunnerTableProps {
  readonly runners: readonly Runner[];
  /** Diagnoses by runner id, as far as they arrived. */
  readonly diagnoses: ReadonlyMap<string, Diagnosis>;
  /** Id of the runner that is shown below. */
  readonly shown: string | null;
  readonly onShow: (id: string) => void;
}

/** The runners, each with what it does now. */
export function RunnerTable({ runners, diagnoses, shown, onShow }: RunnerTableProps) {
  const rows = runners.map((runner) => ({ ...runner, diagnosis: diagnoses.get(runner.id) ?? null }));
  const fromReport = (name: string, show: (report: HealthReport) => ComponentChildren) => ({
    name,
    cell: ({ diagnosis }: (typeof rows)[number]) => (diagnosis?.report == null ? "–" : show(diagnosis.report)),
  });
  return (
    <DataTable
      class="fleet"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        {
          name: "Name",
          head: true,
          cell: ({ id, name, capabilities }) => (
            <>
              {name}
              <small title={id}>
                {capabilities === null ? "has not connected yet" : describeMachine(capabilities.hardware)}
              </small>
            </>
          ),
        },
        {
          name: "State",
          cell: ({ state, quarantine, ephemeral }) => (
            <>
              <Badge tone={RUNNER_TONES[state]}>{state}</Badge>
              {quarantine !== null && <Badge tone="bad">quarantine</Badge>}
              {ephemeral && <Badge tone="quiet">ephemeral</Badge>}
            </>
          ),
        },
        {
          name: "Devices",
          wide: true,
          cell: ({ capabilities }) => <DeviceNames devices={capabilities?.devices ?? null} />,
        },
        fromReport("Utilisation", (report) => <Utilisation report={report} />),
        fromReport("Temperature", hottest),
        fromReport("Queue", (report) => `${countWaiting(report)} waiting`),
        { name: "Findings", cell: ({ diagnosis }) => countFindings(diagnosis) },
        {
          name: "Details",
          cell: ({ id, name }) => (
            <ShowButton isShown={id === shown} onShow={() => onShow(id)} what={`the runner ${name}`} />
          ),
        },
      ]}
    />
  );
}

function countFindings(diagnosis: Diagnosis | null) {
  if (diagnosis === null) return "–";
  const { length } = diagnosis.findings;
  return length === 0 ? "none" : <Badge tone="bad">{`${length} open`}</Badge>;
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
