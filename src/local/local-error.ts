/** What a person can mend, as one sentence. */
export class LocalError extends Error {
  override readonly name = "LocalError";
}
