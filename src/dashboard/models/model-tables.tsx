import { FIRST_VARIANT, type ModelVariant, type Placement } from "../../protocol/models/model.ts";
import { describeFidelity, describeRecipe } from "../../words/models.ts";
import { formatBytes, formatMeasure, formatNumber, formatShare } from "../../words/numbers.ts";
import { Badge, MarkedName } from "../ui/badges.tsx";
import { writeAddress } from "../ui/page-address.ts";
import { Timestamp } from "../ui/timestamp.tsx";
import { DataTable } from "../ui/data-table.tsx";

/** Time of one row by variant, backend and device; the fastest first. */
export function LatencyTable({ placements }: { readonly placements: readonly Placement[] }) {
  const rising = placements.toSorted((a, b) => medianOf(a) - medianOf(b));
  const percentiles = (["p50", "p95", "p99"] as const).map((name) => ({
    name,
    cell: ({ sweep: [first] }: Placement) => formatMeasure(first?.serviceMs[name], "ms"),
  }));
  return (
    <DataTable
      class="judgements"
      rows={rising}
      keyOf={({ id }) => id}
      columns={[
        {
          name: "Device",
          head: true,
          title: ({ runnerId }) => runnerId,
          cell: ({ deviceKey, software }) => <MarkedName name={deviceKey} software={software} />,
          note: ({ backend }) => `by ${backend}`,
        },
        { name: "Variant", cell: ({ variant }) => variant },
        ...percentiles,
        {
          name: "Fidelity",
          cell: ({ state, fidelity }) =>
            state === "failed" ? <Badge tone="bad">failed</Badge> : fidelity === null ? "–" : formatShare(fidelity),
        },
      ]}
    />
  );
}

function medianOf({ sweep }: Placement): number {
  return sweep[0]?.serviceMs.p50 ?? Number.POSITIVE_INFINITY;
}

interface VariantTableProps {
  readonly variants: readonly ModelVariant[];
  /** Placements, for variants whose fidelity a calibration measured. */
  readonly placements: readonly Placement[];
}

/** The files of a version: how large each is, how good and by what, and how it was made. */
export function VariantTable({ variants, placements }: VariantTableProps) {
  return (
    <DataTable
      class="variants"
      rows={variants}
      keyOf={({ name }) => name}
      columns={[
        { name: "Variant", head: true, cell: ({ name }) => name },
        { name: "Size", cell: ({ sizeBytes }) => formatBytes(sizeBytes) },
        {
          name: "Parameters",
          cell: ({ summary }) => (summary === null ? "–" : formatNumber(summary.parameters)),
          note: ({ summary }) =>
            summary !== null &&
            summary.quantisedParameters > 0 &&
            `${formatNumber(summary.quantisedParameters)} quantised`,
        },
        {
          name: "Fidelity",
          cell: (variant) => describeFidelity(variant, placements).share,
          note: (variant) => describeFidelity(variant, placements).basis,
        },
        { name: "Made", cell: nameOrigin, note: (variant) => <Making variant={variant} /> },
      ]}
    />
  );
}

function nameOrigin({ name, recipe }: ModelVariant): string {
  if (recipe !== null) return describeRecipe(recipe);
  return name === FIRST_VARIANT ? "the version's own file" : "an uploaded file";
}

function Making({ variant: { jobId, createdAt } }: { readonly variant: ModelVariant }) {
  return (
    <>
      {jobId !== null && (
        <>
          by <a href={writeAddress({ view: "jobs", job: jobId })}>its job</a>,{" "}
        </>
      )}
      <Timestamp at={createdAt} />
    </>
  );
}
