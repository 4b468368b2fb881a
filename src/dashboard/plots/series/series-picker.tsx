import { nameSubject, nameVariant } from "../../../words/history.ts";
import type { SeriesChoice, SeriesPick } from "./choose-series.ts";

/** What a choice makes of the pick before it, which may be too fresh to be drawn yet. */
type PickChange = (before: SeriesPick) => SeriesPick;

/** Chooses a series by subject, then metric, then, where several remain, device and configuration. */
export function SeriesPicker({ choice, onPick }: { choice: SeriesChoice; onPick: (change: PickChange) => void }) {
  const { subjects, metrics, variants, chosen } = choice;
  if (chosen === null) return null;
  const subject = nameSubject(chosen);
  const { metric } = chosen;
  return (
    <div class="picker">
      <label>
        Subject
        <select value={subject} onChange={({ currentTarget: { value } }) => onPick(() => ({ subject: value }))}>
          {subjects.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <label>
        Metric
        <select
          value={metric}
          onChange={({ currentTarget: { value } }) =>
            onPick((before) => ({ subject: before.subject ?? subject, metric: value }))
          }
        >
          {metrics.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      {variants.length > 1 && (
        <label class="variant">
          Series
          <select
            value={chosen.id}
            onChange={({ currentTarget: { value } }) => onPick((before) => ({ subject, metric, ...before, id: value }))}
          >
            {variants.map((item) => (
              <option key={item.id} value={item.id}>
                {nameVariant(item)}
              </option>
            ))}
          </select>
        </label>
      )}
    </div>
  );
}
