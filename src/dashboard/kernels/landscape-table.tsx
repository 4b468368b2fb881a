import type { TuningTrial } from "../../protocol/tuning.ts";
import { formatNumber } from "../format.ts";
import type { Landscape, LandscapeCell, LandscapeChoice } from "./landscape.ts";

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
export function LandscapeTable({ landscape: { columns, rows, cells, others }, choice }: LandscapeTableProps) {
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
