import type { Change } from "../protocol/alert.ts";
import { describeKind, describeLevels, describeMove, describeSureness } from "./describe-change.ts";
import { EventSign } from "./event-sign.tsx";
import { formatMeasure } from "./format.ts";
import { type MarkTone, toneOf } from "./plot-marks.ts";
import type { SeriesHistory } from "./series-history.ts";
import { Timestamp } from "./timestamp.tsx";

const SHOWN = 4;
const TONES: Record<MarkTone, string> = { worse: "bad", better: "good" };

interface EventListProps {
  readonly history: SeriesHistory;
  /** Shows the series on the other hardware; absent: it is only named. */
  readonly onShow?: ((id: string) => void) | undefined;
}

/** What the plot marks, in words and newest first: its legend, and the same for those who cannot see it. */
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
