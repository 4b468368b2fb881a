import type { Span, SpanAttributes, SpanKind } from "./span.ts";

/** Numbers of OTLP's SpanKind. */
const KINDS: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3, consumer: 5 };
const STATUS_ERROR = 2;

/** Who made the spans, by OpenTelemetry's names: `service.name` and others. */
export type SpanResource = Readonly<Record<string, string>>;

/**
 * Spans as the body of an OTLP/HTTP export in JSON (OpenTelemetry protocol 1.x: ExportTraceServiceRequest). `dropped` is
 * how many were lost before these for want of room.
 */
export function encodeSpans(spans: readonly Span[], resource: SpanResource, dropped: number): string {
  const version = resource["service.version"] ?? "";
  const scope = {
    name: "millrace",
    version,
    attributes: toAttributes(dropped > 0 ? { "millrace.dropped": dropped } : {}),
  };
  return JSON.stringify({
    resourceSpans: [
      { resource: { attributes: toAttributes(resource) }, scopeSpans: [{ scope, spans: spans.map(toWire) }] },
    ],
  });
}

function toWire({ traceId, spanId, parentSpanId, name, kind, startMs, endMs, attributes, error }: Span) {
  return {
    traceId,
    spanId,
    ...(parentSpanId !== null && { parentSpanId }),
    name,
    kind: KINDS[kind],
    startTimeUnixNano: toNanoseconds(startMs),
    endTimeUnixNano: toNanoseconds(endMs),
    attributes: toAttributes(attributes),
    status: error === null ? {} : { code: STATUS_ERROR, message: error },
  };
}

/** Whole microseconds are as many digits as a number holds. */
function toNanoseconds(ms: number): string {
  return `${Math.round(ms * 1_000)}000`;
}

function toAttributes(values: SpanAttributes) {
  return Object.entries(values).map(([key, value]) => ({ key, value: toAnyValue(value) }));
}

/** 64-bit numbers are text in OTLP's JSON. */
function toAnyValue(value: string | number | boolean) {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
