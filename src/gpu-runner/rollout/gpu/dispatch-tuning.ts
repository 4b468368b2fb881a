/** Time limit of a dispatch, so that no watchdog ends it and a cancelled call ends soon. */
const LONGEST_MS = 200;
const FEWEST_STEPS = 16;
const MOST_STEPS = 256;

/** Number of steps per dispatch. No result depends on it. */
export class DispatchPace {
  readonly #fixed: number | undefined;
  /** Time of one step of one episode, in recent costly dispatches. */
  #msPerStep = 0;

  /** Always `fixed`, where it is given. */
  constructor(fixed?: number) {
    this.#fixed = fixed;
  }

  /**
   * Steps of the next dispatch for episodes that have run this long: as many again, since a long episode is likely to
   * continue, and a lane idles from its episode's end until the dispatch ends. Fewer where they would take too long.
   */
  stepsFor(playing: number, taken: number): number {
    if (this.#fixed !== undefined) return this.#fixed;
    const wanted = Math.min(MOST_STEPS, Math.max(FEWEST_STEPS, taken));
    const affordable = this.#msPerStep === 0 ? FEWEST_STEPS : Math.floor(LONGEST_MS / (this.#msPerStep * playing));
    return Math.max(1, Math.min(wanted, affordable));
  }

  /** Learns from a dispatch's time; older times are forgotten slowly. */
  note(steps: number, playing: number, elapsedMs: number): void {
    this.#msPerStep = Math.max(elapsedMs / (steps * Math.max(1, playing)), 0.8 * this.#msPerStep);
  }
}

/** Lanes of a workgroup that every device supports, the default first. */
const CANDIDATES = [64, 32, 128, 256] as const;
/** Trials of each candidate; the fastest counts. */
const TRIALS = 2;
/** Steps before a search pays: each candidate needs a compiled pipeline. */
const STEPS_BEFORE = 2 ** 23;
/** Least steps of a meaningful trial. */
const TRIAL_STEPS = 2 ** 15;
/** Least speed-up of another candidate over the default. */
const GAIN = 1.05;

/** Finds the fastest workgroup size during waves that run anyway. No result depends on it. */
export class LaneSearch {
  #played = 0;
  readonly #trials = new Map<number, number[]>(CANDIDATES.map((lanes) => [lanes, []]));

  /** Lanes of the next wave. */
  get lanes(): number {
    const [usual] = CANDIDATES;
    if (this.#played < STEPS_BEFORE) return usual;
    const open = CANDIDATES.find((lanes) => this.#trials.get(lanes)!.length < TRIALS);
    if (open !== undefined) return open;
    const fastest = CANDIDATES.toSorted((a, b) => this.#stepMs(a) - this.#stepMs(b))[0]!;
    return this.#stepMs(usual) > GAIN * this.#stepMs(fastest) ? fastest : usual;
  }

  /** Records the time of a wave, without compilation. */
  note(lanes: number, steps: number, elapsedMs: number): void {
    const isTrial = this.#played >= STEPS_BEFORE && steps >= TRIAL_STEPS;
    this.#played += steps;
    const trials = this.#trials.get(lanes)!;
    if (isTrial && trials.length < TRIALS) trials.push(elapsedMs / steps);
  }

  #stepMs(lanes: number): number {
    return Math.min(...this.#trials.get(lanes)!);
  }
}
