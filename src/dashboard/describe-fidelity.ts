import type { MeasuredFidelity } from "../protocol/measured-fidelity.ts";
import { FIRST_VARIANT, type ModelVariant, type Placement } from "../protocol/model.ts";
import { formatNumber, formatShare } from "./format.ts";

/** The fidelity of a variant, and what it rests on. */
export function describeFidelity(
  { name, fidelity, measured }: Pick<ModelVariant, "name" | "fidelity" | "measured">,
  placements: readonly Pick<Placement, "variant" | "fidelity">[],
): { readonly share: string; readonly basis: string } {
  if (name === FIRST_VARIANT) return { share: "–", basis: "what others are held against" };
  if (measured !== null) return { share: formatShare(measured.value), basis: describeBasis(measured) };
  if (fidelity !== null) return { share: formatShare(fidelity), basis: "as its uploader says" };
  const found = placements.flatMap((placement) =>
    placement.variant === name && placement.fidelity !== null ? [placement.fidelity] : [],
  );
  if (found.length === 0) return { share: "–", basis: "not measured yet" };
  return { share: formatShare(Math.min(...found)), basis: "the least that calibrations found" };
}

function describeBasis(measured: MeasuredFidelity): string {
  if (measured.basis === "metric") {
    const { metric, variant, parent, rows } = measured;
    return `${metric} ${formatNumber(variant)} beside ${formatNumber(parent)}, on ${formatNumber(rows)} rows of its data`;
  }
  const { inputs, relativeError } = measured;
  return `agreement with ${FIRST_VARIANT} on ${formatNumber(inputs)} random inputs, relative error ${formatNumber(relativeError)}`;
}
