import type { MeasuredPercentile, ScenarioResult } from "../../protocol/models/scenario.ts";
import { describeRate, SHORT } from "../../words/kinds/validation.ts";
import { formatDuration, formatMeasure, formatNumber, formatShare, PAGE_NUMBERS } from "../../words/numbers.ts";
import { namePercentile, PATHS, SCENARIOS } from "../../words/validation.ts";
import { DataTable } from "../ui/data-table.tsx";

/** Every scenario on every path: how much load, the latency with its confidence, and what early stopping says. */
export function ScenarioTable({ scenarios }: { scenarios: readonly ScenarioResult[] }) {
  return (
    <DataTable
      class="scenarios"
      caption="Scenarios"
      rows={scenarios}
      keyOf={(_, index) => index}
      columns={[
        {
          name: "Scenario",
          head: true,
          cell: ({ scenario, short }) => (
            <>
              {SCENARIOS[scenario.kind]} {short && <ShortBadge />}
            </>
          ),
          note: ({ path }) => PATHS[path],
        },
        { name: "Queries", cell: (result) => <Queries result={result} /> },
        { name: "Latency", wide: true, cell: (result) => <Percentiles result={result} /> },
        { name: "Early stopping", cell: describeStopping },
        {
          name: "Throughput",
          cell: (result) => describeRate(result, PAGE_NUMBERS),
          note: ({ server, samplesPerS }) => server !== null && `${formatNumber(samplesPerS)} samples/s answered`,
        },
      ]}
    />
  );
}

function Queries({ result: { queries, durationMs, errors, errorCodes } }: { result: ScenarioResult }) {
  const codes = Object.entries(errorCodes).map(([code, count]) => `${code} ${count}`);
  return (
    <>
      {formatNumber(queries)}
      <small>{`in ${formatDuration(durationMs)}`}</small>
      {errors > 0 && <small class="problem">{`${errors} failed: ${codes.join(", ")}`}</small>}
    </>
  );
}

function Percentiles({ result: { scenario, percentiles } }: { result: ScenarioResult }) {
  if (percentiles.length === 0) {
    const why = scenario.kind === "offline" ? "one query of all samples" : "no query was answered";
    return <span class="muted">{why}</span>;
  }
  return (
    <ul class="percentiles">
      {percentiles.map((each) => (
        <Percentile key={each.percentile} measured={each} />
      ))}
    </ul>
  );
}

function ShortBadge() {
  return (
    <span class="software" title={`${SHORT}: never an MLPerf-valid result`}>
      short
    </span>
  );
}

function Percentile({ measured: { percentile, ms, lowMs, highMs, confidence } }: { measured: MeasuredPercentile }) {
  const low = lowMs === null ? "…" : formatNumber(lowMs);
  const high = highMs === null ? "…" : formatNumber(highMs);
  const isBounded = lowMs !== null || highMs !== null;
  return (
    <li title={isBounded ? `${formatShare(confidence)} sure to lie in the range` : "Too few queries for a range"}>
      <span class="kind">{namePercentile(percentile)}</span> {formatMeasure(ms, "ms")}{" "}
      {isBounded && <span class="muted">{`(${low} to ${high})`}</span>}
    </li>
  );
}

/** The estimate as MLPerf would report it, or how many queries it takes. */
function describeStopping({ earlyStopping, scenario }: ScenarioResult): string {
  if (earlyStopping === null) return "–";
  const { percentile, estimateMs, enough, minQueries } = earlyStopping;
  if (estimateMs !== null) return `${namePercentile(percentile)} ${formatMeasure(estimateMs, "ms")}`;
  if (enough) return "enough queries";
  return scenario.kind === "server" ? `not met: wants ${minQueries} queries` : `too few: wants ${minQueries} queries`;
}
