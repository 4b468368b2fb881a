/** Parameters at the end of a failed statement's message (Drizzle's `DrizzleQueryError`): some are hashes of secrets. */
const PARAMETERS = /\nparams: [^]*$/;

/** Message of a failure. That of a failed statement has the query and the cause, without the parameters. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  return message.replace(PARAMETERS, () => (cause instanceof Error ? `: ${nameFailure(cause)}` : ""));
}

/** Name of the error and its message, as above. */
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
