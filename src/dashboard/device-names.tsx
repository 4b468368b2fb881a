import type { Device } from "../protocol/hardware.ts";
import { SoftwareBadge } from "./software-badge.tsx";

/** The devices of a runner by kind and name; null before it told of them. */
export function DeviceNames({ devices }: { devices: readonly Device[] | null }) {
  if (devices === null) return <span class="muted">not known yet</span>;
  return (
    <ul class="devices">
      {devices.map(({ key, kind, name, software }) => (
        <li key={key}>
          <span class="device-kind">{kind.toUpperCase()}</span> {name} {software && <SoftwareBadge />}
        </li>
      ))}
    </ul>
  );
}
