import type { Change } from "../../../protocol/history/alert.ts";
import { describeKind, describeLevels, describeMove, describeSureness } from "../../../words/alerts.ts";
import { formatMeasure } from "../../../words/numbers.ts";
import { Timestamp } from "../../ui/timestamp.tsx";
import { type MarkTone, toneOf } from "../plot-marks.ts";
import type { SeriesHistory } from "./series-history.ts";

export type EventKind = "up" | "down" | "spike" | "hardware";

const SHAPES: Record<EventKind, string> = {
  up: "M6 2 11 10H1Z",
  down: "M6 10 11 2H1Z",
  spike: "M6 2a4 4 0 1 0 .01 0Z",
  hardware: "M6 0v3M6 5v3M6 10v2",
};

/** A plot's sign for an event; the text beside it says the same. */
export function EventSign({ kind, tone }: { kind: EventKind; tone: string }) {
  return (
    <svg class={`event-sign ${kind} ${tone}`} viewBox="0 0 12 12" aria-hidden="true">
      <path d={SHAPES[kind]} />
    </svg>
  );
}

const SHOWN = 4;
const TONES: Record<MarkTone, string> = { worse: "bad", better: "good" };

interface EventListProps {
  readonly history: SeriesHistory;
  /** Shows the series on the other hardware; absent: it is only named. */
  readonly onShow?: ((id: string) => void) | undefined;
}

/** Marks of the plot in words, newest first: its legend, also for screen readers. */
export function EventList({ history: { happened, hardwareChanges, series }, onShow }: EventListProps) {
  const changes = happened.changes.toReversed();
  const lastSpike = happened.spikes.at(-1);
  if (changes.length + happened.spikes.length + hardwareChanges.length === 0) return null;
  return (
    <ul class="events" aria-label="What happened">
      {hardwareChanges.map(({ at, otherId, isBefore, text }) => (
        <li key={otherId}>
          <EventSign kind="hardware" tone="busy" />
          <span>
            Hardware changed <Timestamp at={at} />: {text}.{" "}
            {onShow !== undefined && (
              <button type="button" class="link" onClick={() => onShow(otherId)}>
                {isBefore ? "Show what was before" : "Show what came after"}
              </button>
            )}
          </span>
        </li>
      ))}
      {changes.slice(0, SHOWN).map((change) => (
        <ChangeItem key={change.id} change={change} unit={series.unit} />
      ))}
      {changes.length > SHOWN && <li class="muted">{`and ${changes.length - SHOWN} earlier ones`}</li>}
      {lastSpike !== undefined && (
        <li>
          <EventSign kind="spike" tone="warn" />
          <span>
            {happened.spikes.length === 1 ? "One spike" : `${happened.spikes.length} spikes, the last`} of{" "}
            {formatMeasure(lastSpike.value, series.unit)} at <Timestamp at={lastSpike.at} />: alone, so no change.
          </span>
        </li>
      )}
    </ul>
  );
}

function ChangeItem({ change, unit }: { change: Change; unit: string }) {
  const tone = toneOf(change);
  return (
    <li>
      <EventSign kind={change.to > change.from ? "up" : "down"} tone={TONES[tone]} />
      <span title={describeSureness(change)}>
        <b class={TONES[tone]}>{`${tone} ${describeMove(change)}`}</b> {describeLevels(change, unit)},{" "}
        {describeKind(change)}, <Timestamp at={change.at} />
        {change.revision !== null && (
          <>
            , <code>{change.revision.slice(0, 12)}</code>
          </>
        )}
        {change.returnedAt !== null && (
          <>
            ; back at its old level since <Timestamp at={change.returnedAt} />
          </>
        )}
      </span>
    </li>
  );
}
