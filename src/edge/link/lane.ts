/** Runs one piece of work after the other, of which so many may wait. */
export class Lane {
  readonly #mostWaiting: number;
  #waiting = 0;
  #last: Promise<void> = Promise.resolve();

  constructor(mostWaiting: number) {
    this.#mostWaiting = mostWaiting;
  }

  /** Runs work after all before it; it is dropped where as many wait as may. */
  async runIfRoom(work: () => Promise<void>): Promise<void> {
    if (this.#waiting < this.#mostWaiting) await this.run(work);
  }

  /** Runs work after all before it, however many wait. */
  run(work: () => Promise<void>): Promise<void> {
    this.#waiting++;
    const done = this.#last.then(() => {
      this.#waiting--;
      return work();
    });
    this.#last = done.catch(() => undefined);
    return done;
  }
}
