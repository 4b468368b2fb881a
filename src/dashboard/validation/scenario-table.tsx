import type { MeasuredPercentile, ScenarioResult } from "../../protocol/models/scenario.ts";
import { describeRate, SHORT } from "../../words/kinds/validation.ts";
import { formatDuration, formatMeasure, formatNumber, formatShare, PAGE_NUMBERS } from "../../words/numbers.ts";
import { namePercentile, PATHS, SCENARIOS } from "../../words/validation.ts";

/** Every scenario on every path: how much load, the latency with its confidence, and what early stopping says. */
export function ScenarioTable({ scenarios }: { scenarios: readonly ScenarioResult[] }) {
  return (
    <table class="scenarios">
      <caption class="unseen">Scenarios</caption>
      <thead>
        <tr>
          <th scope="col">Scenario</th>
          <th scope="col">Queries</th>
          <th scope="col">Latency</th>
          <th scope="col">Early stopping</th>
          <th scope="col">Throughput</th>
        </tr>
      </thead>
      <tbody>
        {scenarios.map((result, index) => (
          <ScenarioRow key={index} result={result} />
        ))}
      </tbody>
    </table>
  );
}

function ScenarioRow({ result }: { result: ScenarioResult }) {
  const { scenario, path, queries, durationMs, errors, errorCodes, percentiles, short } = result;
  const codes = Object.entries(errorCodes).map(([code, count]) => `${code} ${count}`);
  return (
    <tr>
      <th scope="row">
        {SCENARIOS[scenario.kind]} {short && <ShortBadge />}
        <small>{PATHS[path]}</small>
      </th>
      <td data-label="Queries">
        {formatNumber(queries)}
        <small>{`in ${formatDuration(durationMs)}`}</small>
        {errors > 0 && <small class="problem">{`${errors} failed: ${codes.join(", ")}`}</small>}
      </td>
      <td data-label="Latency" class="wide">
        {percentiles.length === 0 ? (
          <span class="muted">
            {scenario.kind === "offline" ? "one query of all samples" : "no query was answered"}
          </span>
        ) : (
          <ul class="percentiles">
            {percentiles.map((each) => (
              <Percentile key={each.percentile} measured={each} />
            ))}
          </ul>
        )}
      </td>
      <td data-label="Early stopping">{describeStopping(result)}</td>
      <td data-label="Throughput">
        {describeRate(result, PAGE_NUMBERS)}
        {result.server !== null && <small>{`${formatNumber(result.samplesPerS)} samples/s answered`}</small>}
      </td>
    </tr>
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
