import type { StoredTuning } from "../../protocol/tuning.ts";
import { TuningRow } from "./tuning-row.tsx";

interface TuningTableProps {
  readonly tunings: readonly StoredTuning[];
  /** Id of the one whose trials are shown here. */
  readonly shown: string | null;
  readonly onShow: (tuning: StoredTuning) => void;
}

/** Tunings, a row each. */
export function TuningTable({ tunings, shown, onShow }: TuningTableProps) {
  return (
    <table class="tunings">
      <thead>
        <tr>
          <th scope="col">Kernel</th>
          <th scope="col">Device</th>
          <th scope="col">Best</th>
          <th scope="col">Faster than the default</th>
          <th scope="col">Found</th>
          <th scope="col">Trials</th>
        </tr>
      </thead>
      <tbody>
        {tunings.map((tuning) => (
          <TuningRow key={tuning.id} tuning={tuning} isShown={tuning.id === shown} onShow={() => onShow(tuning)} />
        ))}
      </tbody>
    </table>
  );
}
