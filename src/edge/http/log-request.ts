import type { MiddlewareHandler } from "hono";
import { createTraceContext, formatTraceparent, parseTraceparent } from "../../telemetry/trace-context.ts";
import type { TelemetrySink } from "../../telemetry/event.ts";
import { configOf } from "../config.ts";
import type { AppEnv } from "./bind.ts";

/**
 * Notes the arrival, continues the caller's trace, and emits one flat event for the request after
 * the reply: for every request, or only for those that failed on our side.
 */
export function logRequest(sink: TelemetrySink): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const arrivedAtMs = Date.now();
    c.set("arrivedAtMs", arrivedAtMs);
    c.set("principalId", null);
    const trace = createTraceContext(parseTraceparent(c.req.header("traceparent")));
    await next();
    if (c.res.status !== 101) c.res.headers.set("traceparent", formatTraceparent(trace));
    const { logRequests } = configOf(c.env);
    if (logRequests === "errors" && c.res.status !== 500) return;
    sink({
      event: "request",
      method: c.req.method,
      path: c.req.path,
      status: c.res.status,
      durationMs: Date.now() - arrivedAtMs,
      principalId: c.get("principalId"),
      traceId: trace.traceId,
    });
  };
}
