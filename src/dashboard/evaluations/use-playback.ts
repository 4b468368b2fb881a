import { useEffect, useRef, useState } from "preact/hooks";

/** How many times as fast as usual. */
export const SPEEDS = [0.25, 1, 4] as const;
export type Speed = (typeof SPEEDS)[number];

/** Steps a second: of what moves smoothly, and for those who want no motion. */
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
export function usePlayback(steps: number, from: number): Playback {
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
