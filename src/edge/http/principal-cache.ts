interface Entry {
  readonly principal: { readonly project: string };
}

/**
 * Entries by secret, of a bounded number. Where it is full, a new one takes the place of the oldest of the project that
 * has most: who comes with ever more keys displaces its own in the end.
 */
export class PrincipalCache<Kept extends Entry> {
  readonly #limit: number;
  /** In the order in which they were kept. */
  readonly #entries = new Map<string, Kept>();
  readonly #counts = new Map<string, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(secret: string): Kept | undefined {
    return this.#entries.get(secret);
  }

  /** Keeps an entry as the newest. */
  keep(secret: string, entry: Kept): void {
    this.drop(secret);
    if (this.#entries.size >= this.#limit) this.#makeRoom();
    const { project } = entry.principal;
    this.#entries.set(secret, entry);
    this.#counts.set(project, (this.#counts.get(project) ?? 0) + 1);
  }

  drop(secret: string): void {
    const project = this.#entries.get(secret)?.principal.project;
    if (project === undefined) return;
    this.#entries.delete(secret);
    const left = (this.#counts.get(project) ?? 0) - 1;
    if (left > 0) this.#counts.set(project, left);
    else this.#counts.delete(project);
  }

  clear(): void {
    this.#entries.clear();
    this.#counts.clear();
  }

  #makeRoom(): void {
    let most = ["", 0] as readonly [string, number];
    for (const count of this.#counts) if (count[1] > most[1]) most = count;
    for (const [secret, { principal }] of this.#entries) {
      if (principal.project === most[0]) return this.drop(secret);
    }
  }
}
