import type { StoredTuning } from "../../protocol/jobs/tuning.ts";
import { describeGain, describeSearch } from "../../words/kinds/tuning.ts";
import { describeSizes, formatMeasure } from "../../words/numbers.ts";
import { MarkedName } from "./badges.tsx";
import { Timestamp } from "./timestamp.tsx";
import { ShowButton } from "./buttons.tsx";
import { DataTable } from "./data-table.tsx";

/** The best's time, and the default's where that is another one. */
function describeTimes({ best, untuned, gain }: StoredTuning): string {
  const bestTime = formatMeasure(best.ms.p50, "ms");
  const isFaster = untuned !== null && gain !== null && gain.ratio > 1;
  return isFaster ? `${bestTime} instead of ${formatMeasure(untuned.ms.p50, "ms")}` : bestTime;
}

interface TuningTableProps {
  readonly tunings: readonly StoredTuning[];
  /** Id of the one whose trials are shown here. */
  readonly shown: string | null;
  readonly onShow: (tuning: StoredTuning) => void;
}

/** Tunings, a row each. */
export function TuningTable({ tunings, shown, onShow }: TuningTableProps) {
  return (
    <DataTable
      class="tunings"
      rows={tunings}
      keyOf={({ id }) => id}
      columns={[
        {
          name: "Kernel",
          head: true,
          title: ({ id }) => id,
          cell: ({ kernel }) => kernel,
          note: ({ shape, dtype }) => `${describeSizes(shape)} · ${dtype}`,
        },
        {
          name: "Device",
          cell: ({ deviceName, software }) => <MarkedName name={deviceName} software={software} />,
        },
        { name: "Best", cell: ({ best }) => best.variant, note: ({ best }) => describeSizes(best.axes) },
        { name: "Faster than the default", cell: (tuning) => describeGain(tuning), note: describeTimes },
        { name: "Found", cell: ({ tunedAt }) => <Timestamp at={tunedAt} />, note: describeSearch },
        {
          name: "Trials",
          cell: (tuning) => (
            <ShowButton
              isShown={tuning.id === shown}
              onShow={() => onShow(tuning)}
              what={`trials of ${tuning.kernel}`}
            />
          ),
        },
      ]}
    />
  );
}
