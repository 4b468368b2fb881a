import type { Span, SpanAttributes, SpanKind } from "./span.ts";

/** Numbers of OTLP's SpanKind. */
const KINDS: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3, consumer: 5 };
const STATUS_ERROR = 2;

/** Source of the spans, by OpenTelemetry's names: `service.name` and others. */
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
    // Invalid header names or values throw here.
    return Object.fromEntries(new Headers(pairs));
  } catch {
    return null;
  }
}

/** Spans that wait to be sent: so many at most, further ones are dropped and counted. */
export class SpanQueue {
  readonly #max: number;
  #spans: Span[] = [];
  #dropped = 0;
  #untold = 0;

  constructor(max: number) {
    this.#max = max;
  }

  add(span: Span): void {
    if (this.#spans.length < this.#max) this.#spans.push(span);
    else this.drop(1);
  }

  /** Counts spans that are lost. */
  drop(count: number): void {
    this.#dropped += count;
    this.#untold += count;
  }

  get size(): number {
    return this.#spans.length;
  }

  /** Since the start. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Takes the oldest, with how many were dropped since it was last asked. */
  take(max: number): { readonly spans: Span[]; readonly dropped: number } {
    const taken = { spans: this.#spans.slice(0, max), dropped: this.#untold };
    this.#spans = this.#spans.slice(max);
    this.#untold = 0;
    return taken;
  }
}

/** Receiver of spans. */
export interface SpanTarget {
  /** Address of an OpenTelemetry collector's traces. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Spans of one export, and exports that follow each other. */
const BATCH_SPANS = 512;
const EXPORTS = 8;
const TIMEOUT_MS = 2_000;

/**
 * Sends what waits, some exports after each other, unless the collector fails, is silent, or says no: what it was
 * offered then is dropped and counted. The rest waits for the next time. Never throws.
 */
export async function sendSpans(queue: SpanQueue, target: SpanTarget, resource: SpanResource): Promise<void> {
  for (let sent = 0; sent < EXPORTS && queue.size > 0; sent++) {
    const { spans, dropped } = queue.take(BATCH_SPANS);
    if (await post(target, encodeSpans(spans, resource, dropped))) continue;
    queue.drop(spans.length);
    return;
  }
}

async function post({ url, headers }: SpanTarget, body: string): Promise<boolean> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body,
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
