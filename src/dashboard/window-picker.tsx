import { TIME_WINDOWS, type TimeWindow } from "./time-window.ts";

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
