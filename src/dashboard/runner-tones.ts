import type { RunnerState } from "../protocol/runner.ts";
import type { Tone } from "./badge.tsx";

/** How each state of a runner is shown. */
export const RUNNER_TONES: Record<RunnerState, Tone> = {
  online: "good",
  draining: "warn",
  registered: "busy",
  offline: "bad",
};
