import type { Device } from "../../protocol/fleet/hardware.ts";
import type { RooflinePosition } from "../../protocol/fleet/roofline.ts";
import { EmptyState } from "../ui/panels.tsx";
import { formatBytes } from "../../words/numbers.ts";
import { nameDevice } from "../../words/runners.ts";
import { nextCommands } from "../ui/next-commands.ts";
import { MarkedName } from "../ui/badges.tsx";
import { RooflinePlot } from "../plots/roofline-plot.tsx";

interface DevicePanelProps {
  readonly devices: readonly Device[];
  /** Latest benchmarks, each under the roofline of its own device. */
  readonly positions: readonly RooflinePosition[];
}

/** Devices of a runner, each with its roofline. */
export function DevicePanel({ devices, positions }: DevicePanelProps) {
  return (
    <section class="panel" aria-labelledby="devices">
      <div class="panel-head">
        <h2 id="devices">Devices and their roofs</h2>
      </div>
      <div class="device-cards">
        {devices.map((device) => (
          <div key={device.key}>
            <p>
              <MarkedName
                name={nameDevice({ ...device, pciAddress: device.board?.pciAddress })}
                software={device.software}
              />
              <small>{describeDevice(device)}</small>
            </p>
            <RooflinePlot device={device} positions={positions} />
          </div>
        ))}
      </div>
      {devices.every(({ roofline }) => roofline === null) && (
        <EmptyState says="No roof has been measured yet." command={nextCommands.submitBenchmark}>
          The first benchmark on a device measures its roofs:
        </EmptyState>
      )}
    </section>
  );
}

function describeDevice({ backends, memoryBytes, quarantined = [] }: Device): string {
  const facts = [...backends, ...(memoryBytes === null ? [] : [formatBytes(memoryBytes)])];
  if (quarantined.length > 0) facts.push(`${quarantined.length} kernels locked out`);
  return facts.join(" · ");
}
