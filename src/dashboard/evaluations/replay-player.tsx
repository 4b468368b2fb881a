import { useEffect } from "preact/hooks";
import { formatNumber } from "../format.ts";
import { describeEnd, type Replay, type ReplayedEpisode } from "./replay.ts";
import { ScenePicture } from "./scene-picture.tsx";
import { StateTable } from "./state-table.tsx";
import { SPEEDS, usePlayback } from "./use-playback.ts";

interface ReplayPlayerProps {
  readonly environment: string;
  readonly fields: Replay["fields"];
  readonly episode: ReplayedEpisode;
  /** Where to begin. */
  readonly from: number;
  /** Hears where it stands whenever it is at rest. */
  readonly onRest: (step: number) => void;
}

/** An episode drawn from its states, to be played, stepped through and scrubbed. */
export function ReplayPlayer({ environment, fields, episode, from, onRest }: ReplayPlayerProps) {
  const { records } = episode;
  const last = records.length - 1;
  const playback = usePlayback(records.length, from);
  const { step, isPlaying, goTo, toggle } = playback;
  useEffect(() => {
    if (!isPlaying) onRest(step);
  }, [isPlaying, step]);
  const record = records[step] ?? records[0]!;
  const press = (event: KeyboardEvent) => {
    if (event.key !== " " || !(event.target instanceof HTMLInputElement)) return;
    event.preventDefault();
    toggle();
  };
  return (
    <div class="player" role="group" aria-label="Replay" onKeyDown={press}>
      <ScenePicture
        environment={environment}
        fields={fields}
        record={record}
        label={`${environment} at step ${step} of ${last}`}
      />
      <div class="player-controls">
        <button type="button" class="primary" onClick={toggle}>
          {isPlaying ? "Pause" : "Play"}
        </button>
        <button type="button" onClick={() => goTo(step - 1)}>
          −1<span class="unseen"> step</span>
        </button>
        <button type="button" onClick={() => goTo(step + 1)}>
          +1<span class="unseen"> step</span>
        </button>
        <label>
          Speed
          <select
            value={playback.speed}
            onChange={({ currentTarget: { value } }) =>
              playback.setSpeed(SPEEDS.find((speed) => String(speed) === value) ?? 1)
            }
          >
            {SPEEDS.map((speed) => (
              <option key={speed} value={speed}>{`${speed}×`}</option>
            ))}
          </select>
        </label>
        <label class="scrub">
          <span class="unseen">Step</span>
          <input
            type="range"
            min={0}
            max={last}
            value={step}
            aria-valuetext={`step ${step} of ${last}`}
            onInput={({ currentTarget: { valueAsNumber } }) => goTo(valueAsNumber)}
          />
        </label>
        <output class="muted">{`${step} / ${last}`}</output>
      </div>
      <p class="muted">
        {`Return ${formatNumber(episode.total)} over ${last} ${last === 1 ? "step" : "steps"}: ${describeEnd(episode)}.`}
      </p>
      <StateTable fields={fields} records={records} step={step} />
    </div>
  );
}
