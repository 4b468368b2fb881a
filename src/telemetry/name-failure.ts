/** A failed statement's message ends by its parameters, hashes of secrets among them (Drizzle's `DrizzleQueryError`). */
const PARAMETERS = /\nparams: [^]*$/;

/** A failure in words, without the parameters of a failed statement: of it, the query and the cause are told. */
export function nameFailure(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  if (!PARAMETERS.test(text)) return text;
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${nameFailure(error.cause)}` : "";
  return text.replace(PARAMETERS, () => cause);
}

/** Where a failure came from, without its message. */
export function stackOf(error: Error): string {
  return (error.stack ?? "")
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
    .join("\n");
}
