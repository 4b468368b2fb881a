import type { Context, MiddlewareHandler } from "hono";
import type { Span } from "../../telemetry/span.ts";
import {
  createTraceContext,
  formatTraceparent,
  parseTraceparent,
  type TraceContext,
} from "../../telemetry/trace-context.ts";
import { LoopLag } from "../../protocol/inference/loop-lag.ts";
import type { TelemetrySink } from "../../telemetry/event.ts";
import { configOf } from "../config.ts";
import { elapsedMs } from "../clock.ts";
import { openScope } from "./span-log.ts";
import type { AppEnv } from "./bind.ts";

/**
 * Notes the arrival and how long the request may have waited before it, continues the caller's trace, and emits one flat
 * event after the reply: for each request, or only for failures on our side.
 */
export function logRequest(sink: TelemetrySink): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const arrivedAtMs = Date.now();
    c.set("arrivedAtMs", arrivedAtMs);
    const begun = lag.begin(() => nextTurn(c));
    c.set("unseenMs", begun.unseenMs);
    c.set("principalId", null);
    c.set("route", null);
    const { logRequests, tracing } = configOf(c.env);
    const parent = parseTraceparent(c.req.header("traceparent"));
    const trace = createTraceContext(parent, tracing?.sampleRatio);
    const scope = openScope(c.env, trace, (work) => c.executionCtx.waitUntil(work));
    c.set("scope", scope);
    await next().finally(begun.end);
    if (c.res.status !== 101) c.res.headers.set("traceparent", formatTraceparent(trace));
    scope?.add(describeRequest(c, trace, parent));
    if (logRequests === "errors" && c.res.status !== 500) return;
    sink({
      event: "request",
      method: c.req.method,
      path: c.req.path,
      status: c.res.status,
      durationMs: elapsedMs(arrivedAtMs),
      principalId: c.get("principalId"),
      traceId: trace.traceId,
    });
  };
}

/** A context may be cancelled within a turn, and the system's clock be set. */
const LOST_MS = 250;
const lag = new LoopLag(() => Date.now(), LOST_MS);

/** The wait outlives the request, which may end first. */
function nextTurn(c: Context<AppEnv>): Promise<void> {
  const turn = scheduler.wait(0);
  c.executionCtx.waitUntil(turn);
  return turn;
}

/** Span of an answered request, in OpenTelemetry's names; ids in the path are not part of its name. */
function describeRequest(c: Context<AppEnv>, trace: TraceContext, parent: TraceContext | null): Span {
  const { method, path } = c.req;
  const { status } = c.res;
  const route = c.get("route");
  return {
    traceId: trace.traceId,
    spanId: trace.parentId,
    parentSpanId: parent?.parentId ?? null,
    name: route === null ? method : `${method} ${route}`,
    kind: "server",
    startMs: c.get("arrivedAtMs"),
    endMs: Date.now(),
    attributes: {
      "http.request.method": method,
      "url.path": path,
      "http.response.status_code": status,
      ...(route !== null && { "http.route": route }),
    },
    error: status >= 500 ? `answered ${status}` : null,
  };
}
