import { nameFailure } from "../telemetry/name-failure.ts";

/** Logs a failure that the caller does not see, or sees as an internal one, with what it was about. */
export function logFailure(event: string, error: unknown, about: Readonly<Record<string, unknown>> = {}): void {
  console.error(JSON.stringify({ event, ...about, error: nameFailure(error) }));
}
