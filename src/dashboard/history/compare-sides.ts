import type { HistoryPoint } from "../../protocol/history/history.ts";
import type { Series } from "../../protocol/history/series.ts";
import { nameHardware } from "../../words/history.ts";

/** Property in which the two sides of a comparison differ. */
export const SIDE_KINDS = ["label", "device", "window", "run"] as const;
export type SideKind = (typeof SIDE_KINDS)[number];

/** One side to choose: as the API takes it, and in words. */
export interface SideOption {
  readonly text: string;
  readonly name: string;
}

const DAY_MS = 86_400_000;
const WINDOWS = [
  ["the last day", 1, 0],
  ["the day before", 2, 1],
  ["the last 7 days", 7, 0],
  ["the 7 days before", 14, 7],
  ["the last 30 days", 30, 0],
  ["the 30 days before", 60, 30],
] as const;

/** The sides that a subject can be compared by, of each kind. Windows end with the present hour, so that they hold still. */
export function sideOptions(
  series: readonly Series[],
  points: readonly HistoryPoint[],
  nowMs: number,
): Record<SideKind, readonly SideOption[]> {
  const labels = [...new Set(series.flatMap(({ label }) => label ?? []))].toSorted();
  const devices = new Map(
    series.flatMap(({ fingerprintId, fingerprint }) =>
      fingerprintId === null ? [] : [[fingerprintId, nameHardware(fingerprint)] as const],
    ),
  );
  const endMs = Math.ceil(nowMs / 3_600_000) * 3_600_000;
  const instant = (daysAgo: number) => new Date(endMs - daysAgo * DAY_MS).toISOString();
  const runs = points.filter(({ runId }) => runId !== null).toReversed();
  return {
    label: labels.map((label) => ({ text: `label:${label}`, name: label })),
    device: [...devices].map(([id, name]) => ({ text: `device:${id}`, name })),
    window: WINDOWS.map(([name, from, to]) => ({ text: `window:${instant(from)}/${instant(to)}`, name })),
    run: runs.map(({ runId, at }) => ({ text: `run:${runId}`, name: `${at.slice(0, 16).replace("T", " ")} UTC` })),
  };
}

/** The kind that a picked side is of; null for another one, such as a baseline. */
export function kindOf(side: string | undefined): SideKind | null {
  return SIDE_KINDS.find((kind) => side?.startsWith(`${kind}:`)) ?? null;
}

/** The first two sides to compare: A is the older one where they have an order, else the first. */
export function usualSides(
  kind: SideKind,
  options: Record<SideKind, readonly SideOption[]>,
): { readonly a: string; readonly b: string } | null {
  const texts = options[kind].map(({ text }) => text);
  const main = texts.find((text) => text === "label:main") ?? texts[0];
  const [a, b] = {
    label: [main, texts.find((text) => text !== main)],
    // The newest series stands first.
    device: [texts[1], texts[0]],
    window: [texts[3], texts[2]],
    run: [texts[1], texts[0]],
  }[kind];
  return a === undefined || b === undefined ? null : { a, b };
}

/** The kinds that have two sides. */
export function usableKinds(options: Record<SideKind, readonly SideOption[]>): SideKind[] {
  return SIDE_KINDS.filter((kind) => options[kind].length >= 2);
}
