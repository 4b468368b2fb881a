import { FIRST_VARIANT, type ModelVariant, type Placement } from "../../protocol/models/model.ts";
import { describeFidelity, describeRecipe } from "../../words/models.ts";
import { formatBytes, formatMeasure, formatNumber, formatShare } from "../../words/numbers.ts";
import { Badge, SoftwareBadge } from "../ui/badges.tsx";
import { writeAddress } from "../ui/page-address.ts";
import { Timestamp } from "../ui/timestamp.tsx";

/** How long one row takes by each variant and backend on each device; the fastest first. */
export function LatencyTable({ placements }: { readonly placements: readonly Placement[] }) {
  const rising = placements.toSorted((a, b) => medianOf(a) - medianOf(b));
  return (
    <table class="judgements">
      <thead>
        <tr>
          <th scope="col">Device</th>
          <th scope="col">Variant</th>
          <th scope="col">p50</th>
          <th scope="col">p95</th>
          <th scope="col">p99</th>
          <th scope="col">Fidelity</th>
        </tr>
      </thead>
      <tbody>
        {rising.map(({ id, runnerId, deviceKey, software, variant, backend, state, fidelity, sweep: [first] }) => (
          <tr key={id}>
            <th scope="row" title={runnerId}>
              {deviceKey} {software && <SoftwareBadge />}
              <small>{`by ${backend}`}</small>
            </th>
            <td data-label="Variant">{variant}</td>
            {(["p50", "p95", "p99"] as const).map((percentile) => (
              <td key={percentile} data-label={percentile}>
                {first === undefined ? "–" : formatMeasure(first.serviceMs[percentile], "ms")}
              </td>
            ))}
            <td data-label="Fidelity">
              {state === "failed" ? <Badge tone="bad">failed</Badge> : fidelity === null ? "–" : formatShare(fidelity)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function medianOf({ sweep }: Placement): number {
  return sweep[0]?.serviceMs.p50 ?? Number.POSITIVE_INFINITY;
}

interface VariantTableProps {
  readonly variants: readonly ModelVariant[];
  /** Where they were measured, for those whose fidelity calibration found. */
  readonly placements: readonly Placement[];
}

/** The files of a version: how large each is, how good and by what, and how it was made. */
export function VariantTable({ variants, placements }: VariantTableProps) {
  return (
    <table class="variants">
      <thead>
        <tr>
          <th scope="col">Variant</th>
          <th scope="col">Size</th>
          <th scope="col">Parameters</th>
          <th scope="col">Fidelity</th>
          <th scope="col">Made</th>
        </tr>
      </thead>
      <tbody>
        {variants.map((variant) => {
          const { name, sizeBytes, summary, recipe, jobId, createdAt } = variant;
          const { share, basis } = describeFidelity(variant, placements);
          return (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td data-label="Size">{formatBytes(sizeBytes)}</td>
              <td data-label="Parameters">
                {summary === null ? "–" : formatNumber(summary.parameters)}
                {summary !== null && summary.quantisedParameters > 0 && (
                  <small>{`${formatNumber(summary.quantisedParameters)} quantised`}</small>
                )}
              </td>
              <td data-label="Fidelity">
                {share}
                <small>{basis}</small>
              </td>
              <td data-label="Made">
                {recipe !== null && describeRecipe(recipe)}
                {recipe === null && (name === FIRST_VARIANT ? "the version's own file" : "an uploaded file")}
                <small>
                  {jobId !== null && (
                    <>
                      by <a href={writeAddress({ view: "jobs", job: jobId })}>its job</a>,{" "}
                    </>
                  )}
                  <Timestamp at={createdAt} />
                </small>
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
