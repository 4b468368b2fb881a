import type { StoredTuningRecord } from "../../protocol/tuning.ts";
import { LandscapeTable } from "./landscape-table.tsx";
import { layOutLandscape, listAxes, type LandscapeChoice, readChoice, writeChoice } from "./landscape.ts";

interface LandscapeFigureProps {
  readonly record: StoredTuningRecord;
  /** Variant and axes as the address has them. */
  readonly picked: string | null;
  readonly onPick: (axes: string) => void;
}

/** How the time of one variant's candidates depends on two of its axes. */
export function LandscapeFigure({ record, picked, onPick }: LandscapeFigureProps) {
  const byVariant = listAxes(record);
  const choice = readChoice(picked, record);
  const axes = byVariant.get(choice.variant) ?? [];
  const pick = (change: Partial<LandscapeChoice>) => onPick(writeChoice({ ...choice, ...change }));
  return (
    <figure class="landscape-figure" aria-labelledby="landscape">
      <div class="plot-head">
        <h3 id="landscape">Landscape</h3>
        <div class="picker">
          <Select
            label="Variant"
            value={choice.variant}
            options={[...byVariant.keys()]}
            onPick={(variant) => onPick(variant)}
          />
          {choice.across !== null && (
            <Select label="Across" value={choice.across} options={axes} onPick={(across) => pick({ across })} />
          )}
          {choice.down !== null && (
            <Select
              label="Down"
              value={choice.down}
              options={axes.filter((axis) => axis !== choice.across)}
              onPick={(down) => pick({ down })}
            />
          )}
        </div>
      </div>
      {choice.across === null ? (
        <p class="muted">This variant has no axes.</p>
      ) : (
        <LandscapeTable landscape={layOutLandscape(record, choice)} choice={choice} />
      )}
      <figcaption class="muted">
        Medians of each candidate's last runs in ms. The best is what the search kept: the default stays unless another
        is surely faster.
      </figcaption>
    </figure>
  );
}

interface SelectProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly string[];
  readonly onPick: (value: string) => void;
}

function Select({ label, value, options, onPick }: SelectProps) {
  return (
    <label>
      {label}
      <select value={value} onChange={({ currentTarget }) => onPick(currentTarget.value)}>
        {options.map((option) => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
      </select>
    </label>
  );
}
