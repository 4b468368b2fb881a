/** Load of the objects of one kind: the busiest second of any of them, and the busiest one's mean. */
export interface ObjectLoad {
  readonly peakPerSecond: number;
  readonly busiestPerSecond: number;
  readonly allPerSecond: number;
}

/** Counts the calls of each object of a kind, by the second. */
export class LoadMeter {
  readonly #counts = new Map<string, number>();
  #second = 0;
  #inSecond = new Map<string, number>();
  #peak = 0;

  note(object: string, nowMs: number, count = 1): void {
    const second = Math.floor(nowMs / 1e3);
    if (second !== this.#second) {
      this.#second = second;
      this.#inSecond = new Map();
    }
    const inSecond = (this.#inSecond.get(object) ?? 0) + count;
    this.#inSecond.set(object, inSecond);
    this.#peak = Math.max(this.#peak, inSecond);
    this.#counts.set(object, (this.#counts.get(object) ?? 0) + count);
  }

  read(durationMs: number): ObjectLoad {
    const seconds = durationMs / 1e3;
    let all = 0;
    let busiest = 0;
    for (const count of this.#counts.values()) {
      all += count;
      busiest = Math.max(busiest, count);
    }
    return { peakPerSecond: this.#peak, busiestPerSecond: busiest / seconds, allPerSecond: all / seconds };
  }
}
