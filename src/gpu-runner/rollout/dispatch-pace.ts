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
