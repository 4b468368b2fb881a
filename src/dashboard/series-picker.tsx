import { nameSubject, nameVariant, type SeriesChoice, type SeriesPick } from "./series-choice.ts";

/** Chooses a series by subject, then metric, then, where several remain, device and configuration. */
export function SeriesPicker({ choice, onPick }: { choice: SeriesChoice; onPick: (pick: SeriesPick) => void }) {
  const { subjects, metrics, variants, chosen } = choice;
  if (chosen === null) return null;
  const subject = nameSubject(chosen);
  const { metric } = chosen;
  return (
    <div class="picker">
      <label>
        Subject
        <select value={subject} onChange={(event) => onPick({ subject: event.currentTarget.value })}>
          {subjects.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <label>
        Metric
        <select value={metric} onChange={(event) => onPick({ subject, metric: event.currentTarget.value })}>
          {metrics.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      {variants.length > 1 && (
        <label class="variant">
          Series
          <select value={chosen.id} onChange={(event) => onPick({ subject, metric, id: event.currentTarget.value })}>
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
