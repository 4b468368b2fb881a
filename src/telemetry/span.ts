import { messageOf } from "./name-failure.ts";
import { createTraceContext, type TraceContext } from "./trace-context.ts";

export type SpanKind = "internal" | "server" | "client" | "consumer";
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** A piece of work in a trace that has ended. Times are milliseconds of Unix time, with fractions. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** Null where the trace begins with it. */
  readonly parentSpanId: string | null;
  readonly name: string;
  readonly kind: SpanKind;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: SpanAttributes;
  /** Why it failed; null where it did not. */
  readonly error: string | null;
}

/** Open spans: `context` names the parent of the spans within. */
export interface SpanScope {
  readonly context: TraceContext;
  readonly now: () => number;
  readonly add: (span: Span) => void;
}

const ERROR_LENGTH = 256;

/** Attributes of a span; `describe` reads them from the result of the work. */
interface SpanDetails<Output> {
  readonly kind?: SpanKind;
  readonly attributes?: SpanAttributes;
  readonly describe?: (output: Output) => { readonly attributes?: SpanAttributes; readonly error?: string };
}

/**
 * Does work as a span of a scope, which gets one of its own for what is within it. Without a scope nothing is traced.
 * Fails as the work does.
 */
export async function traced<Output>(
  scope: SpanScope | null,
  name: string,
  { kind = "internal", attributes = {}, describe }: SpanDetails<Output>,
  work: (scope: SpanScope | null) => Promise<Output>,
): Promise<Output> {
  if (scope === null) return work(null);
  const within = { ...scope, context: createTraceContext(scope.context) };
  const startMs = scope.now();
  const end = (more: SpanAttributes, error: string | null) =>
    scope.add({
      ...idsOf(scope.context, within.context),
      name,
      kind,
      startMs,
      endMs: scope.now(),
      attributes: { ...attributes, ...more },
      error,
    });
  try {
    const output = await work(within);
    const { attributes: found = {}, error = null } = describe?.(output) ?? {};
    end(found, error);
    return output;
  } catch (error) {
    end({}, textOf(error));
    throw error;
  }
}

/** Adds a span whose times are known from elsewhere; gives the scope of what was within it. */
export function addSpan(
  scope: SpanScope,
  span: Pick<Span, "name" | "startMs" | "endMs"> & Partial<Pick<Span, "kind" | "attributes" | "error">>,
): SpanScope {
  const within = { ...scope, context: createTraceContext(scope.context) };
  scope.add({ kind: "internal", attributes: {}, error: null, ...span, ...idsOf(scope.context, within.context) });
  return within;
}

function idsOf(parent: TraceContext, own: TraceContext) {
  return { traceId: own.traceId, spanId: own.parentId, parentSpanId: parent.parentId };
}

function textOf(error: unknown): string {
  return messageOf(error).slice(0, ERROR_LENGTH);
}
