/** How queries are asked, as a request may wish it. */
export interface QueryWishes {
  /** How sure an answer has to be in time; 0.99 where it is absent. */
  readonly confidence?: number;
  /**
   * Where as many requests are in flight as the configuration lets, a further one waits at its caller, or comes all
   * the same and is refused. Absent: it waits.
   */
  readonly beyondCap?: "waits" | "comes";
}

/** What is put under load. */
export interface SystemUnderTest {
  /** Samples that one call of `query` takes at most; drivers cut what is larger. */
  readonly maxSamples: number;
  /** One query of so many samples: resolves with the last byte of its answer, throws ProblemError where there is none. */
  query(samples: number): Promise<void>;
}
