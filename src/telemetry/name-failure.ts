/** A failed statement's message ends by its parameters, hashes of secrets among them (Drizzle's `DrizzleQueryError`). */
const PARAMETERS = /\nparams: [^]*$/;

/** A failure's message, without the parameters of a failed statement: of it, the query and the cause are told. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  return message.replace(PARAMETERS, () => (cause instanceof Error ? `: ${nameFailure(cause)}` : ""));
}

/** The same, behind the kind of the failure. */
export function nameFailure(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${messageOf(error)}` : String(error);
}

/** Where a failure came from, without its message. */
export function stackOf(error: Error): string {
  return (error.stack ?? "")
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
    .join("\n");
}
