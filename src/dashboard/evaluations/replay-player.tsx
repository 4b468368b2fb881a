import { useEffect, useRef, useState } from "preact/hooks";
import { formatNumber } from "../../words/numbers.ts";
import { describeEnd, type Replay, type ReplayedEpisode } from "./replay.ts";
import { ScenePicture } from "./scene-picture.tsx";
import { StateTable } from "./state-table.tsx";
import { Picker } from "../ui/forms/picker.tsx";

/** Playback speeds, relative to normal. */
const SPEEDS = [0.25, 1, 4] as const;
export type Speed = (typeof SPEEDS)[number];

/** Steps per second: for smooth motion, and for readers who prefer reduced motion. */
const STEPS_PER_SECOND = 25;
const CALM_STEPS_PER_SECOND = 2;

const calm = matchMedia("(prefers-reduced-motion: reduce)");

export interface Playback {
  readonly step: number;
  readonly isPlaying: boolean;
  readonly speed: Speed;
  /** Goes there and stays. */
  readonly goTo: (step: number) => void;
  /** From the beginning where it had come to the end. */
  readonly toggle: () => void;
  readonly setSpeed: (speed: Speed) => void;
}

/** A place among so many steps that moves on by itself while it plays; it begins at rest. */
function usePlayback(steps: number, from: number): Playback {
  const last = steps - 1;
  const [step, setStep] = useState(Math.max(0, Math.min(last, from)));
  const [isPlaying, setPlaying] = useState(false);
  const [speed, setSpeed] = useState<Speed>(1);
  const latest = useRef(step);
  latest.current = step;

  useEffect(() => {
    if (!isPlaying) return undefined;
    const perSecond = calm.matches ? CALM_STEPS_PER_SECOND : STEPS_PER_SECOND * speed;
    const begin = { step: latest.current, ms: performance.now() };
    let frame = 0;
    const draw = (nowMs: number) => {
      const next = begin.step + Math.floor((Math.max(0, nowMs - begin.ms) / 1_000) * perSecond);
      setStep(Math.min(last, next));
      if (next >= last) setPlaying(false);
      else frame = requestAnimationFrame(draw);
    };
    frame = requestAnimationFrame(draw);
    return () => cancelAnimationFrame(frame);
  }, [isPlaying, speed, last]);

  const goTo = (next: number) => {
    setPlaying(false);
    setStep(Math.max(0, Math.min(last, next)));
  };
  const toggle = () => {
    if (!isPlaying && step === last) setStep(0);
    setPlaying(!isPlaying);
  };
  return { step, isPlaying, speed, goTo, toggle, setSpeed };
}

interface ReplayPlayerProps {
  readonly environment: string;
  readonly fields: Replay["fields"];
  readonly episode: ReplayedEpisode;
  /** First step to show. */
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
        <Picker
          label="Speed"
          value={String(playback.speed)}
          options={SPEEDS.map((speed) => [String(speed), `${speed}×`])}
          onPick={(text) => playback.setSpeed(SPEEDS.find((speed) => String(speed) === text) ?? 1)}
        />
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
