import { nameSubject, nameVariant } from "../../../words/history.ts";
import type { SeriesChoice, SeriesPick } from "./choose-series.ts";
import { plainOptions } from "../../../words/form-fields.ts";
import { Picker } from "../../ui/forms/picker.tsx";

/** Update of the pick; the pick before it may not be rendered yet. */
type PickChange = (before: SeriesPick) => SeriesPick;

/** Chooses a series by subject, then metric, then, where several remain, device and configuration. */
export function SeriesPicker({ choice, onPick }: { choice: SeriesChoice; onPick: (change: PickChange) => void }) {
  const { subjects, metrics, variants, chosen } = choice;
  if (chosen === null) return null;
  const subject = nameSubject(chosen);
  const { metric } = chosen;
  return (
    <div class="picker">
      <Picker
        label="Subject"
        value={subject}
        options={plainOptions(subjects)}
        onPick={(name) => onPick(() => ({ subject: name }))}
      />
      <Picker
        label="Metric"
        value={metric}
        options={plainOptions(metrics)}
        onPick={(name) => onPick((before) => ({ subject: before.subject ?? subject, metric: name }))}
      />
      {variants.length > 1 && (
        <Picker
          label="Series"
          class="variant"
          value={chosen.id}
          options={variants.map((item) => [item.id, nameVariant(item)])}
          onPick={(id) => onPick((before) => ({ subject, metric, ...before, id }))}
        />
      )}
    </div>
  );
}
