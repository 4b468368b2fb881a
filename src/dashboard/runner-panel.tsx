import type { Device } from "../protocol/hardware.ts";
import type { RooflinePosition } from "../protocol/roofline.ts";
import type { Runner, RunnerState } from "../protocol/runner.ts";
import { Badge, type Tone } from "./badge.tsx";
import { EmptyState } from "./empty-state.tsx";
import { formatBytes } from "./format.ts";
import { nextCommands } from "./next-commands.ts";
import { Panel } from "./panel.tsx";
import { RooflinePlot } from "./roofline-plot.tsx";
import { SoftwareBadge } from "./software-badge.tsx";
import { Timestamp } from "./timestamp.tsx";
import type { Resource } from "./use-resource.ts";

const TONES: Record<RunnerState, Tone> = { online: "good", draining: "warn", registered: "busy", offline: "bad" };

interface RunnerPanelProps {
  readonly runners: Resource<readonly Runner[]>;
  /** Where the latest benchmarks stand, each under the roofs of its own device. */
  readonly positions: readonly RooflinePosition[];
  /** Id of the runner whose diagnosis is shown. */
  readonly diagnosed: string | null;
  readonly onDiagnose: (id: string) => void;
}

/** The runners with their devices. */
export function RunnerPanel({ runners, positions, diagnosed, onDiagnose }: RunnerPanelProps) {
  const items = runners.value ?? [];
  const online = items.filter(({ state }) => state === "online").length;
  return (
    <Panel
      id="runners"
      title="Runners"
      resource={runners}
      aside={items.length > 0 && <span class="muted">{`${online} of ${items.length} online`}</span>}
    >
      {items.length > 0 ? (
        <table class="runners">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">State</th>
              <th scope="col">Devices</th>
              <th scope="col">Fits profiles</th>
              <th scope="col">Last seen</th>
              <th scope="col">Health</th>
            </tr>
          </thead>
          <tbody>
            {items.map((runner) => (
              <RunnerRow
                key={runner.id}
                runner={runner}
                positions={positions}
                isDiagnosed={runner.id === diagnosed}
                onDiagnose={() => onDiagnose(runner.id)}
              />
            ))}
          </tbody>
        </table>
      ) : (
        runners.value !== null && (
          <EmptyState says="No runner is registered yet." command={nextCommands.registerRunner}>
            Make a one-time token, then start a runner with it on the machine that has the GPU:
          </EmptyState>
        )
      )}
    </Panel>
  );
}

interface RunnerRowProps {
  readonly runner: Runner;
  readonly positions: readonly RooflinePosition[];
  readonly isDiagnosed: boolean;
  readonly onDiagnose: () => void;
}

function RunnerRow({ runner, positions, isDiagnosed, onDiagnose }: RunnerRowProps) {
  const { capabilities } = runner;
  const fitting = runner.profiles.filter(({ fits }) => fits).map(({ profile }) => profile);
  return (
    <tr>
      <th scope="row">
        {runner.name}
        <small title={runner.id}>
          {capabilities === null ? "has not connected yet" : describeMachine(capabilities.hardware)}
        </small>
      </th>
      <td data-label="State">
        <Badge tone={TONES[runner.state]}>{runner.state}</Badge>
      </td>
      <td data-label="Devices" class="wide">
        {capabilities === null ? (
          <span class="muted">not known yet</span>
        ) : (
          <ul class="devices">
            {capabilities.devices.map((device) => (
              <DeviceItem key={device.key} device={device} positions={positions} />
            ))}
          </ul>
        )}
      </td>
      <td data-label="Fits profiles">
        {fitting.length > 0 ? (
          <span class="names">
            {fitting.map((name) => (
              <span key={name}>{name}</span>
            ))}
          </span>
        ) : (
          <span class="muted">none</span>
        )}
      </td>
      <td data-label="Last seen">
        <Timestamp at={runner.lastSeenAt} />
      </td>
      <td data-label="Health">
        <button type="button" aria-pressed={isDiagnosed} onClick={onDiagnose}>
          Diagnose<span class="unseen">{` ${runner.name}`}</span>
        </button>
      </td>
    </tr>
  );
}

function DeviceItem({ device, positions }: { device: Device; positions: readonly RooflinePosition[] }) {
  return (
    <li>
      <span class="device-kind">{device.kind.toUpperCase()}</span> {device.name} {device.software && <SoftwareBadge />}
      <small>{device.backends.join(" · ")}</small>
      <RooflinePlot device={device} positions={positions} />
    </li>
  );
}

function describeMachine({ cpu, memoryBytes, os }: NonNullable<Runner["capabilities"]>["hardware"]): string {
  return `${cpu.logicalCores} cores · ${formatBytes(memoryBytes)} · ${os}`;
}
