/** What one dispatch may take: no watchdog bites, and a cancelled call ends soon. */
const LONGEST_MS = 200;
const FEWEST_STEPS = 16;
const MOST_STEPS = 256;

/** How many steps one dispatch takes. No result depends on it. */
export class DispatchPace {
  readonly #fixed: number | undefined;
  /** Of one step of one episode, where dispatches were dearest of late. */
  #msPerStep = 0;

  /** Always `fixed`, where it is given. */
  constructor(fixed?: number) {
    this.#fixed = fixed;
  }

  /**
   * Steps of the next dispatch for so many episodes that have gone so far: as many again, since an episode that has
   * lasted is likely to last, and a lane whose episode ends idles until the dispatch does. Fewer where they would take
   * too long.
   */
  stepsFor(playing: number, taken: number): number {
    if (this.#fixed !== undefined) return this.#fixed;
    const wanted = Math.min(MOST_STEPS, Math.max(FEWEST_STEPS, taken));
    const affordable = this.#msPerStep === 0 ? FEWEST_STEPS : Math.floor(LONGEST_MS / (this.#msPerStep * playing));
    return Math.max(1, Math.min(wanted, affordable));
  }

  /** Learns what a dispatch took; what is long past is forgotten slowly. */
  note(steps: number, playing: number, elapsedMs: number): void {
    this.#msPerStep = Math.max(elapsedMs / (steps * Math.max(1, playing)), 0.8 * this.#msPerStep);
  }
}

/** Lanes of a workgroup that every device takes, the usual first. */
const CANDIDATES = [64, 32, 128, 256] as const;
/** Each is tried so often, and its fastest counts. */
const TRIALS = 2;
/** Steps that are played before a search pays: a pipeline is compiled for each candidate. */
const STEPS_BEFORE = 2 ** 23;
/** A trial of fewer steps says little. */
const TRIAL_STEPS = 2 ** 15;
/** By so much another has to be faster than the usual. */
const GAIN = 1.05;

/** Finds the size of workgroup that plays fastest, on the waves that are played anyway. No result depends on it. */
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

  /** What a wave took, its pipelines compiled before. */
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
