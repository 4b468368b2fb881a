/** Length of a plot's window, and the step by which points are merged. */
export interface TimeWindow {
  readonly name: string;
  readonly spanMs: number;
  /** Absent: points as they were stored. */
  readonly step?: string;
}

const HOUR_MS = 3_600_000;

/** From the shortest to the longest. */
export const TIME_WINDOWS: readonly TimeWindow[] = [
  { name: "1 h", spanMs: HOUR_MS },
  { name: "24 h", spanMs: 24 * HOUR_MS, step: "5m" },
  { name: "7 d", spanMs: 7 * 24 * HOUR_MS, step: "1h" },
  { name: "90 d", spanMs: 90 * 24 * HOUR_MS, step: "6h" },
  { name: "1 y", spanMs: 366 * 24 * HOUR_MS, step: "1d" },
];

/** The shortest window that still holds this instant, or the longest. */
export function fitWindow(lastPointAt: string | null, nowMs: number): TimeWindow {
  const ageMs = lastPointAt === null ? 0 : nowMs - Date.parse(lastPointAt);
  return (TIME_WINDOWS.find(({ spanMs }) => ageMs < spanMs) ?? TIME_WINDOWS.at(-1)) as TimeWindow;
}

/** Chooses how far back a plot looks. */
export function WindowPicker({ picked, onPick }: { picked: TimeWindow; onPick: (window: TimeWindow) => void }) {
  return (
    <fieldset class="windows">
      <legend class="unseen">Time window</legend>
      {TIME_WINDOWS.map((window) => (
        <label key={window.name}>
          <input
            type="radio"
            name="window"
            value={window.name}
            checked={window === picked}
            onChange={() => onPick(window)}
          />
          <span>{window.name}</span>
        </label>
      ))}
    </fieldset>
  );
}
