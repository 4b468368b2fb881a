interface Match {
  readonly similarity: number;
}

/** The most similar of many matches, of which it never holds more than twice the number wanted. */
export class BestMatches<Found extends Match> {
  readonly #limit: number;
  #kept: Found[] = [];
  /** Similarity of the last of the best, once there are enough. */
  #least: number | null = null;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether a further match of this similarity may be among the best: of equals, the first come first. */
  wants(similarity: number): boolean {
    return this.#least === null || similarity > this.#least;
  }

  add(match: Found): void {
    this.#kept.push(match);
    if (this.#kept.length < 2 * this.#limit) return;
    this.#kept = this.inOrder();
    this.#least = this.#kept.at(-1)?.similarity ?? null;
  }

  inOrder(): Found[] {
    return this.#kept.toSorted((a, b) => b.similarity - a.similarity).slice(0, this.#limit);
  }
}
