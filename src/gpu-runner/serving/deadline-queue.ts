/** A piece of work with the time by which it must be done, on the monotonic clock. */
export interface Deadlined {
  readonly id: string;
  readonly deadlineMs: number;
}

/** Work that waits, earliest deadline first (Liu and Layland, 1973); equal ones in order of arrival. */
export class DeadlineQueue<Work extends Deadlined> {
  readonly #works: Work[] = [];

  get size(): number {
    return this.#works.length;
  }

  add(work: Work): void {
    let low = 0;
    let high = this.#works.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#works[middle]?.deadlineMs ?? 0) <= work.deadlineMs) low = middle + 1;
      else high = middle;
    }
    this.#works.splice(low, 0, work);
  }

  takeFirst(): Work | undefined {
    return this.#works.shift();
  }

  /** Takes a work out by its id; undefined where it is not here. */
  remove(id: string): Work | undefined {
    const index = this.#works.findIndex((work) => work.id === id);
    return index < 0 ? undefined : this.#works.splice(index, 1)[0];
  }
}
