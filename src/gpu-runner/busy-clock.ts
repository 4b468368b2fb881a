/** For how long something was under way, however many at once; all times in milliseconds of one monotonic clock. */
export class BusyClock {
  #underWay = 0;
  #sinceMs = 0;
  #busyMs = 0;

  begin(nowMs: number): void {
    if (this.#underWay++ === 0) this.#sinceMs = nowMs;
  }

  end(nowMs: number): void {
    if (--this.#underWay === 0) this.#busyMs += nowMs - this.#sinceMs;
  }

  /** Milliseconds since the last cut. */
  cut(nowMs: number): number {
    const busyMs = this.peek(nowMs);
    this.#busyMs = 0;
    this.#sinceMs = nowMs;
    return busyMs;
  }

  /** The same without a cut. */
  peek(nowMs: number): number {
    return this.#busyMs + (this.#underWay > 0 ? nowMs - this.#sinceMs : 0);
  }
}
