import type { StoredTuningRecord, TuningTrial } from "../../protocol/jobs/tuning.ts";
import { formatNumber } from "../../words/numbers.ts";
import {
  type Landscape,
  type LandscapeCell,
  type LandscapeChoice,
  layOutLandscape,
  listAxes,
  readChoice,
  writeChoice,
} from "./trials.ts";
import { plainOptions } from "../../words/form-fields.ts";
import { Picker } from "../ui/forms/picker.tsx";

/** Why a cell has no time. */
const WITHOUT_TIME: Record<TuningTrial["outcome"], string> = {
  timed: "–",
  "too-slow": "too slow",
  wrong: "wrong",
  invalid: "does not fit",
  untried: "not tried",
};

interface LandscapeTableProps {
  readonly landscape: Landscape;
  readonly choice: LandscapeChoice;
}

/** A heat map that is a table: the faster, the stronger its colour, and each figure can be read. */
function LandscapeTable({ landscape: { columns, rows, cells, others }, choice }: LandscapeTableProps) {
  const { variant, across, down } = choice;
  const along = down === null ? across : `${across} and ${down}`;
  const best = others.length === 0 ? "" : `, the best over ${others.join(" and ")}`;
  return (
    <div class="landscape-frame" tabIndex={0} role="region" aria-label={`Landscape of ${variant}`}>
      <table class="points landscape">
        <caption class="unseen">{`Times of ${variant} in ms by ${along}${best}`}</caption>
        <thead>
          <tr>
            <th scope="col">{down === null ? across : `${down} down, ${across} across`}</th>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {cells.map((line, row) => (
            <tr key={rows[row]}>
              <th scope="row">{down === null ? "time" : rows[row]}</th>
              {line.map((cell, column) => (
                <Cell key={columns[column]} cell={cell} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {best !== "" && <p class="muted">{`Each cell is ${best.slice(2)}.`}</p>}
    </div>
  );
}

function Cell({ cell: { ms, outcome, isBest, isDefault, shade } }: { readonly cell: LandscapeCell }) {
  const marks = [isBest && "best", isDefault && "default"].filter(Boolean).join(", ");
  return (
    <td class={shade === null ? undefined : `shade-${shade}`}>
      {ms === null ? (
        <span class="muted">{outcome === null ? "not in the search" : WITHOUT_TIME[outcome]}</span>
      ) : (
        formatNumber(ms)
      )}
      {marks !== "" && <b>{marks}</b>}
    </td>
  );
}

interface LandscapeFigureProps {
  readonly record: StoredTuningRecord;
  /** Variant and axes as the address has them. */
  readonly picked: string | null;
  readonly onPick: (axes: string) => void;
}

/** Time of one variant's candidates over two of its axes. */
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
          <Picker
            label="Variant"
            value={choice.variant}
            options={plainOptions([...byVariant.keys()])}
            onPick={(variant) => onPick(variant)}
          />
          {choice.across !== null && (
            <Picker
              label="Across"
              value={choice.across}
              options={plainOptions(axes)}
              onPick={(across) => pick({ across })}
            />
          )}
          {choice.down !== null && (
            <Picker
              label="Down"
              value={choice.down}
              options={plainOptions(axes.filter((axis) => axis !== choice.across))}
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
