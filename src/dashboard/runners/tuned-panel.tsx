import type { StoredTuning } from "../../protocol/tuning.ts";
import { EmptyState } from "../empty-state.tsx";
import { TuningTable } from "../kernels/tuning-table.tsx";
import { nextCommands } from "../next-commands.ts";
import { writeAddress } from "../page-address.ts";
import { Panel } from "../panel.tsx";
import type { Resource } from "../use-resource.ts";

interface TunedPanelProps {
  readonly tunings: Resource<readonly StoredTuning[]>;
}

/** What searches found to be fastest on a runner's devices. */
export function TunedPanel({ tunings }: TunedPanelProps) {
  const items = tunings.value ?? [];
  return (
    <Panel id="tunings" title="Tunings" resource={tunings}>
      {items.length > 0 && <TuningTable tunings={items} shown={null} onShow={openTrials} />}
      {tunings.value?.length === 0 && (
        <EmptyState says="Nothing has been tuned on these devices yet." command={nextCommands.tuneKernel("gemm")}>
          This searches gemm's variants and axes for the fastest that is right:
        </EmptyState>
      )}
    </Panel>
  );
}

/** The trials stand with the kernel; going back leads here again. */
function openTrials({ id, kernel }: StoredTuning): void {
  location.hash = writeAddress({ view: "kernels", kernel, tuning: id });
}
