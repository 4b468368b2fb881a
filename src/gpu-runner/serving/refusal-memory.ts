import type { Line, Waiting } from "./play-queue.ts";

/**
 * Who was refused since the last batch began. Until the next one begins a queue only grows, so whoever is no
 * better off than a refused one is refused, too, and nothing has to be played for it: of the same line,
 * with as many rows, no later a deadline, no higher a priority, and to be as sure.
 */
export class RefusalMemory {
  /** Of each line the one with the latest deadline. */
  readonly #refused = new Map<Line, Waiting>();

  note(refused: Waiting): void {
    const known = this.#refused.get(refused.line);
    if (known === undefined || known.deadlineMs <= refused.deadlineMs) this.#refused.set(refused.line, refused);
  }

  covers({ line, rows, deadlineMs, priority, level }: Waiting): boolean {
    const known = this.#refused.get(line);
    return (
      known !== undefined &&
      rows >= known.rows &&
      deadlineMs <= known.deadlineMs &&
      priority <= known.priority &&
      level >= known.level
    );
  }

  clear(): void {
    this.#refused.clear();
  }
}
