/** What the runner is told by its environment, or its owner's shell has there, and that no work needs to know. */
const SECRETS: ReadonlySet<string> = new Set(["MILLRACE_TOKEN", "MILLRACE_KEY", "OTEL_EXPORTER_OTLP_HEADERS"]);

/** The environment of a device's process: the runner's own, less its secrets, and what is added for the device. */
export function childEnvironment(
  own: NodeJS.ProcessEnv,
  added: Readonly<Record<string, string>>,
): Record<string, string | undefined> {
  const inherited = Object.entries(own).filter(([name]) => !SECRETS.has(name));
  return { ...Object.fromEntries(inherited), ...added };
}
