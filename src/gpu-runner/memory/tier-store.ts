/** Where a tier's bytes lie. Which ones may stay is the tier's business (tier.ts). */
export interface TierStore {
  /** Another number means that everything that was here is lost. */
  readonly life: number;
  /** What so many bytes take here at most. */
  sizeOf(sizeBytes: number): number;
  /** Bytes that were written; null where they are gone or damaged. */
  read(digest: string): Promise<Uint8Array | null>;
  /** Gives what they take here, or null where there is no room. */
  write(digest: string, bytes: Uint8Array): Promise<number | null>;
  /** Lets bytes go; those that are not here are no error. */
  drop(digest: string): Promise<void>;
}
