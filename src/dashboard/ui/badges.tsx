import type { ComponentChildren } from "preact";
import type { Device } from "../../protocol/fleet/hardware.ts";
import type { Tone } from "../../words/tone.ts";

/** A short word with a coloured dot. */
export function Badge({ tone, title, children }: { tone: Tone; title?: string; children: ComponentChildren }) {
  return (
    <span class={`badge ${tone}`} title={title}>
      {children}
    </span>
  );
}

/** A word of `src/words` in its tone. */
export function WordBadge({ says: [tone, word] }: { says: readonly [Tone, string] }) {
  return <Badge tone={tone}>{word}</Badge>;
}

/** Marks an emulated device: its figures say nothing about a GPU. */
export function SoftwareBadge() {
  return (
    <span class="software" title="An emulation on the CPU: its figures are never compared with those of a GPU">
      software
    </span>
  );
}

/** A name, marked where its device is emulated. */
export function MarkedName({ name, software }: { name: string; software: boolean }) {
  return (
    <>
      {name} {software && <SoftwareBadge />}
    </>
  );
}

/** The devices of a runner by kind and name; null before its first report. */
export function DeviceNames({ devices }: { devices: readonly Device[] | null }) {
  if (devices === null) return <span class="muted">not known yet</span>;
  return (
    <ul class="devices">
      {devices.map(({ key, kind, name, software }) => (
        <li key={key}>
          <span class="device-kind">{kind.toUpperCase()}</span> <MarkedName name={name} software={software} />
        </li>
      ))}
    </ul>
  );
}
