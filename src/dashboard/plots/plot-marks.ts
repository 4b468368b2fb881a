import type { Change } from "../../protocol/history/alert.ts";
import type { ChangesReply } from "../../protocol/history/detection.ts";
import { describeMove } from "../../words/alerts.ts";
import type { HardwareChange } from "../../words/history.ts";

/** The percentiles that are drawn, as points name them; the API's default. */
export const DRAWN_PERCENTILES = ["p50", "p95", "p99"] as const;

/** Meaning of a change for the reader. */
export type MarkTone = "worse" | "better";

/** Marks in the plot of a series; times in seconds, values in the series' unit. */
export interface PlotMarks {
  /** Straight lines: the level before a change, the way to the next one where it took time, the level after. */
  readonly levels: readonly {
    readonly kind: "before" | "after";
    readonly tone: MarkTone;
    readonly fromS: number;
    readonly toS: number;
    readonly from: number;
    readonly to: number;
  }[];
  readonly changes: readonly {
    readonly atS: number;
    readonly tone: MarkTone;
    readonly isUp: boolean;
    readonly text: string;
  }[];
  readonly spikes: readonly { readonly atS: number; readonly value: number }[];
  readonly hardware: readonly { readonly atS: number; readonly text: string }[];
}

export const NO_MARKS: PlotMarks = { levels: [], changes: [], spikes: [], hardware: [] };

/** The marks between two instants, in seconds. Each level reaches to the changes beside it. */
export function toMarks(
  { changes, spikes }: Pick<ChangesReply, "changes" | "spikes">,
  hardware: readonly HardwareChange[],
  [startS, endS]: readonly [number, number],
): PlotMarks {
  const isWithin = ({ at }: { readonly at: string }) => secondsOf(at) >= startS && secondsOf(at) <= endS;
  // The breach of a limit has no levels of its own: the points before it may lie anywhere.
  const shifts = changes.filter(({ kind }) => kind !== "threshold");
  const levels = shifts.filter(isWithin).flatMap((change) => {
    const index = shifts.indexOf(change);
    const began = secondsOf(shifts[index - 1]?.completeAt) ?? startS;
    const ends = secondsOf(change.returnedAt ?? shifts[index + 1]?.after) ?? endS;
    return levelsOf(change, Math.max(startS, began), Math.min(endS, ends));
  });
  return {
    levels,
    changes: changes.filter(isWithin).map((change) => ({
      atS: secondsOf(change.at),
      tone: toneOf(change),
      isUp: change.to > change.from,
      text: `${toneOf(change)} ${describeMove(change)}`,
    })),
    spikes: spikes.filter(isWithin).map(({ at, value }) => ({ atS: secondsOf(at), value })),
    hardware: hardware.filter(isWithin).map(({ at, text }) => ({ atS: secondsOf(at), text })),
  };
}

function levelsOf(change: Change, startS: number, endS: number): PlotMarks["levels"][number][] {
  const { from, to } = change;
  const tone = toneOf(change);
  const atS = secondsOf(change.at);
  const completeS = Math.max(atS, secondsOf(change.completeAt));
  const way = completeS > atS ? [{ kind: "after" as const, tone, fromS: atS, toS: completeS, from, to }] : [];
  return [
    { kind: "before", tone, fromS: Math.min(startS, atS), toS: atS, from, to: from },
    ...way,
    { kind: "after", tone, fromS: completeS, toS: Math.max(endS, completeS), from: to, to },
  ];
}

export function toneOf({ direction }: Pick<Change, "direction">): MarkTone {
  return direction === "regression" ? "worse" : "better";
}

function secondsOf(at: string): number;
function secondsOf(at: string | undefined): number | undefined;
function secondsOf(at: string | undefined): number | undefined {
  return at === undefined ? undefined : Date.parse(at) / 1_000;
}
