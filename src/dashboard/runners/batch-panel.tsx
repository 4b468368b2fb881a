import type { MeasuredBatches } from "../../protocol/fleet/runner.ts";
import { formatBytes, formatMeasure, formatNumber } from "../../words/numbers.ts";
import { DataTable } from "../ui/data-table.tsx";

interface BatchPanelProps {
  readonly measured: readonly MeasuredBatches[];
}

/** Batch sizes of the models on a runner's devices, with their times and memory as calibrations measured them. */
export function BatchPanel({ measured }: BatchPanelProps) {
  const rows = measured.flatMap(({ subject, batches }) => batches.map((batch) => ({ subject, ...batch })));
  return (
    <section class="panel" aria-labelledby="batches">
      <div class="panel-head">
        <h2 id="batches">Batch sizes</h2>
      </div>
      <DataTable
        rows={rows}
        keyOf={({ subject, rows: size }) => `${subject} ${size}`}
        columns={[
          { name: "Placement", head: true, cell: ({ subject }) => subject },
          { name: "Rows", cell: ({ rows: size }) => formatNumber(size) },
          { name: "Median", cell: ({ medianMs }) => formatMeasure(medianMs, "ms") },
          { name: "Rows/s", cell: ({ rowsPerSecond }) => formatNumber(rowsPerSecond) },
          {
            name: "Memory",
            cell: ({ memoryBytes }) => (memoryBytes === null ? "–" : formatBytes(memoryBytes)),
          },
        ]}
      />
    </section>
  );
}
