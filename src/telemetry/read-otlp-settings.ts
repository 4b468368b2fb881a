/** The address of traces at a collector, by its base as OTEL_EXPORTER_OTLP_ENDPOINT names it. */
export function tracesUrlOf(endpoint: string): string {
  return `${endpoint.replace(/\/+$/, "")}/v1/traces`;
}

/**
 * Headers as OTEL_EXPORTER_OTLP_HEADERS has them: `name=value,name=value`, the values percent-encoded. Null where the
 * text is not of that form.
 */
export function readOtlpHeaders(text: string): Record<string, string> | null {
  try {
    const pairs = text
      .split(",")
      .filter((pair) => pair.trim() !== "")
      .map((pair): [string, string] => {
        const [, name = "", value = ""] = /^\s*([^=\s]+)\s*=(.*)$/.exec(pair) ?? [];
        return [name.toLowerCase(), decodeURIComponent(value.trim())];
      });
    // What no request could be sent with throws here.
    return Object.fromEntries(new Headers(pairs));
  } catch {
    return null;
  }
}
