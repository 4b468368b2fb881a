/** Counts of what the attacker was answered, by status and problem code. */
export class Answers {
  readonly #counts = new Map<string, number>();

  count(answer: string): void {
    this.#counts.set(answer, (this.#counts.get(answer) ?? 0) + 1);
  }

  get isEmpty(): boolean {
    return this.#counts.size === 0;
  }

  /** The most frequent first. */
  list(): Record<string, number> {
    return Object.fromEntries([...this.#counts].toSorted(([, a], [, b]) => b - a));
  }
}
