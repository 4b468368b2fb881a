import type { StoredTuning } from "../../protocol/jobs/tuning.ts";
import { describeGain, describeSearch } from "../../words/kinds/tuning.ts";
import { describeSizes, formatMeasure } from "../../words/numbers.ts";
import { SoftwareBadge } from "./badges.tsx";
import { Timestamp } from "./timestamp.tsx";

interface TuningRowProps {
  readonly tuning: StoredTuning;
  /** Whether its trials are shown. */
  readonly isShown: boolean;
  readonly onShow: () => void;
}

/** One tuning: what is best, how much that is worth, and what the search cost. */
function TuningRow({ tuning, isShown, onShow }: TuningRowProps) {
  const { id, kernel, dtype, shape, deviceName, software, best, tunedAt } = tuning;
  return (
    <tr>
      <th scope="row" title={id}>
        {kernel}
        <small>{`${describeSizes(shape)} · ${dtype}`}</small>
      </th>
      <td data-label="Device">
        {deviceName} {software && <SoftwareBadge />}
      </td>
      <td data-label="Best">
        {best.variant}
        <small>{describeSizes(best.axes)}</small>
      </td>
      <td data-label="Faster than the default">
        {describeGain(tuning)}
        <small>{describeTimes(tuning)}</small>
      </td>
      <td data-label="Found">
        <Timestamp at={tunedAt} />
        <small>{describeSearch(tuning)}</small>
      </td>
      <td data-label="Trials">
        <button type="button" aria-pressed={isShown} onClick={onShow}>
          Show<span class="unseen">{` trials of ${kernel}`}</span>
        </button>
      </td>
    </tr>
  );
}

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
