import type { ComparedPair, ComparisonReply } from "../../protocol/history/comparison.ts";
import { Badge } from "../ui/badges.tsx";
import { countRuns, formatP, PAIR_VERDICTS, UNPAIRED } from "../../words/comparison.ts";
import { describeSizes, formatMeasure } from "../../words/numbers.ts";
import { DataTable } from "../ui/data-table.tsx";

/** Names of devices by the ids of their fingerprints. */
type DeviceNames = ReadonlyMap<string | null, string>;

/** Result of a comparison, series by series, with the verdict in words. */
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
      <DataTable
        class="pairs"
        rows={pairs}
        keyOf={({ a, b }) => a.seriesId + b.seriesId}
        columns={[
          {
            name: "Series",
            head: true,
            cell: ({ key }) => `${key.subject} ${key.metric}`,
            note: (pair) => describeSettings(pair, devices),
          },
          {
            name: `A (${statistic})`,
            label: "A",
            cell: ({ a, key }) => formatMeasure(a.value, key.unit),
            note: ({ a }) => countRuns(a),
          },
          {
            name: `B (${statistic})`,
            label: "B",
            cell: ({ b, key }) => formatMeasure(b.value, key.unit),
            note: ({ b }) => countRuns(b),
          },
          {
            name: "B ÷ A",
            cell: ({ ratio }) => (ratio === null ? "–" : formatRatio(ratio.value)),
            note: ({ ratio }) =>
              ratio?.interval != null && `${formatRatio(ratio.interval.low)} to ${formatRatio(ratio.interval.high)}`,
          },
          { name: "Verdict", wide: true, cell: (pair) => <PairVerdict pair={pair} /> },
        ]}
      />
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

function describeSettings({ key, a, b }: ComparedPair, devices: DeviceNames): string {
  // Devices that are compared stand in the pickers.
  const device = a.fingerprintId === b.fingerprintId ? devices.get(a.fingerprintId) : undefined;
  return [device, describeSizes(key.configuration)].filter(Boolean).join(", ");
}

function PairVerdict({ pair }: { pair: ComparedPair }) {
  const { observation, adjustedP, effect, verdict, summary, warnings } = pair;
  const [tone, words] = PAIR_VERDICTS[verdict];
  const tested = [
    ...(adjustedP === null ? [] : [`p ${formatP(adjustedP)}`]),
    ...(effect === null ? [] : [`${effect} effect`]),
    ...(observation === "samples" ? ["samples of single runs"] : []),
  ];
  return (
    <>
      <Badge tone={tone} title={summary}>
        {words}
      </Badge>
      {tested.length > 0 && <small>{tested.join(", ")}</small>}
      {warnings.map((warning) => (
        <small key={warning}>{warning}</small>
      ))}
    </>
  );
}

/** Three decimals: every reported change is a per cent or more. */
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
