/** Ids of the trace that a request belongs to (W3C Trace Context, level 1). */
export interface TraceContext {
  readonly traceId: string;
  readonly parentId: string;
  readonly sampled: boolean;
}

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** Reads a `traceparent` header; null where it is absent or malformed, as the specification wants. */
export function parseTraceparent(header: string | null | undefined): TraceContext | null {
  const match = TRACEPARENT.exec(header ?? "");
  const [, traceId, parentId, flags] = match ?? [];
  if (traceId === undefined || parentId === undefined || flags === undefined) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(parentId)) return null;
  return { traceId, parentId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** A child span of the one given, or a new trace, which is sampled with the probability `ratio`. */
export function createTraceContext(parent: TraceContext | null, ratio = 1): TraceContext {
  const traceId = parent?.traceId ?? randomId();
  return {
    traceId,
    parentId: randomId().slice(0, 16),
    // Decided by the id, as in OpenTelemetry: everyone with the same ratio decides alike.
    sampled: parent?.sampled ?? Number.parseInt(traceId.slice(-8), 16) < ratio * 2 ** 32,
  };
}

export function formatTraceparent(context: TraceContext): string {
  return `00-${context.traceId}-${context.parentId}-${context.sampled ? "01" : "00"}`;
}

/** 32 hex digits, 122 bits of them random: every request has two, and this is the platform's fastest way. */
function randomId(): string {
  return crypto.randomUUID().replaceAll("-", "");
}
