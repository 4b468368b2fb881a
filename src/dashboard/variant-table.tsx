import { FIRST_VARIANT, type ModelVariant, type Placement } from "../protocol/model.ts";
import { describeFidelity } from "./describe-fidelity.ts";
import { describeRecipe } from "./describe-recipe.ts";
import { formatBytes, formatNumber } from "./format.ts";
import { writeAddress } from "./page-address.ts";
import { Timestamp } from "./timestamp.tsx";

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
