import type { LiveQuantity } from "./live-quantities.ts";
import { SHOWN_S } from "./keep-recent.ts";

/** What the charts show, as figures. */
export function LiveTable({ quantities }: { quantities: readonly LiveQuantity[] }) {
  return (
    <details>
      <summary>{`The last ${SHOWN_S} s as a table`}</summary>
      <table>
        <thead>
          <tr>
            <th scope="col">Quantity</th>
            <th scope="col">Of</th>
            <th scope="col">Now</th>
            <th scope="col">Least</th>
            <th scope="col">Mean</th>
            <th scope="col">Most</th>
          </tr>
        </thead>
        <tbody>
          {quantities.flatMap(({ name, format, lines }) =>
            lines.map((line) => {
              const { now, least, mean, most } = sumUp(line.values);
              const tell = (value: number | null) => (value === null ? "–" : format(value));
              return (
                <tr key={`${name} ${line.name}`}>
                  <th scope="row">{name}</th>
                  <td data-label="Of">{line.name}</td>
                  <td data-label="Now">{tell(now)}</td>
                  <td data-label="Least">{tell(least)}</td>
                  <td data-label="Mean">{tell(mean)}</td>
                  <td data-label="Most">{tell(most)}</td>
                </tr>
              );
            }),
          )}
        </tbody>
      </table>
    </details>
  );
}

function sumUp(values: readonly (number | null)[]) {
  const known = values.filter((value) => value !== null);
  const now = values.at(-1) ?? null;
  if (known.length === 0) return { now, least: null, mean: null, most: null };
  const sum = known.reduce((total, value) => total + value, 0);
  return { now, least: Math.min(...known), mean: sum / known.length, most: Math.max(...known) };
}
