import type { ComparedPair, ComparisonReply } from "../../protocol/history/comparison.ts";
import { Badge } from "../ui/badges.tsx";
import { countRuns, formatP, PAIR_VERDICTS, UNPAIRED } from "../../words/comparison.ts";
import { formatMeasure } from "../../words/numbers.ts";

/** Names of devices by the ids of their fingerprints. */
type DeviceNames = ReadonlyMap<string | null, string>;

/** What came of a comparison, series by series, with the verdict in words. */
export function CompareTable({ comparison, devices }: { comparison: ComparisonReply; devices: DeviceNames }) {
  const { pairs, unpaired, notes, statistic } = comparison;
  if (pairs.length === 0)
    return (
      <p class="muted">
        Nothing on either side can be compared:{" "}
        {unpaired.length === 0 ? "no series has both." : sayUnpaired(comparison)}
      </p>
    );
  return (
    <>
      <table class="pairs">
        <thead>
          <tr>
            <th scope="col">Series</th>
            <th scope="col">{`A (${statistic})`}</th>
            <th scope="col">{`B (${statistic})`}</th>
            <th scope="col">B ÷ A</th>
            <th scope="col">Verdict</th>
          </tr>
        </thead>
        <tbody>
          {pairs.map((pair) => (
            <PairRow key={pair.a.seriesId + pair.b.seriesId} pair={pair} devices={devices} />
          ))}
        </tbody>
      </table>
      {unpaired.length > 0 && <p class="muted">{`Not compared: ${sayUnpaired(comparison)}`}</p>}
      {notes.length > 0 && (
        <details>
          <summary>What the figures rest on</summary>
          <ul class="notes">
            {notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

function PairRow({ pair, devices }: { pair: ComparedPair; devices: DeviceNames }) {
  const { key, a, b, ratio, observation, adjustedP, effect, verdict, summary, warnings } = pair;
  const [tone, words] = PAIR_VERDICTS[verdict];
  const settings = Object.entries(key.configuration).map(([name, value]) => `${name} ${value}`);
  // Devices that are compared stand in the pickers.
  const device = a.fingerprintId === b.fingerprintId ? devices.get(a.fingerprintId) : undefined;
  if (device !== undefined) settings.unshift(device);
  const tested = [
    ...(adjustedP === null ? [] : [`p ${formatP(adjustedP)}`]),
    ...(effect === null ? [] : [`${effect} effect`]),
    ...(observation === "samples" ? ["samples of single runs"] : []),
  ];
  return (
    <tr>
      <th scope="row">
        {`${key.subject} ${key.metric}`}
        {settings.length > 0 && <small>{settings.join(", ")}</small>}
      </th>
      <td data-label="A">{tellSide(a, key.unit)}</td>
      <td data-label="B">{tellSide(b, key.unit)}</td>
      <td data-label="B ÷ A">
        {ratio === null ? "–" : formatRatio(ratio.value)}
        {ratio?.interval != null && (
          <small>{`${formatRatio(ratio.interval.low)} to ${formatRatio(ratio.interval.high)}`}</small>
        )}
      </td>
      <td data-label="Verdict" class="wide">
        <Badge tone={tone} title={summary}>
          {words}
        </Badge>
        {tested.length > 0 && <small>{tested.join(", ")}</small>}
        {warnings.map((warning) => (
          <small key={warning}>{warning}</small>
        ))}
      </td>
    </tr>
  );
}

function tellSide(side: ComparedPair["a"], unit: string) {
  return (
    <>
      {formatMeasure(side.value, unit)}
      <small>{countRuns(side)}</small>
    </>
  );
}

/** Three decimals: what is told is a per cent or more. */
function formatRatio(ratio: number): string {
  return ratio.toFixed(ratio < 10 ? 3 : 1);
}

function sayUnpaired({ unpaired }: ComparisonReply): string {
  const reasons = Map.groupBy(unpaired, ({ reason }) => reason);
  return [...reasons]
    .map(([reason, items]) => `${items.length} series, since ${UNPAIRED[reason]}`)
    .join("; ")
    .concat(".");
}
