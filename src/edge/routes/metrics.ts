import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import { chooseMetricsForm, METRICS_MEDIA_TYPES } from "../../telemetry/metrics-form.ts";
import { renderMetrics } from "../../telemetry/render-metrics.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { collectMetrics } from "../metrics/collect-metrics.ts";

/** `GET /metrics`, for Prometheus and whatever else scrapes as it does. */
export function bindMetrics(app: Hono<AppEnv>): void {
  bind(app, endpoints.readMetrics, async ({ c, env }) => {
    const form = chooseMetricsForm(c.req.header("accept"));
    const text = renderMetrics(await collectMetrics(env), form);
    return c.body(text, 200, { "content-type": METRICS_MEDIA_TYPES[form], vary: "accept" });
  });
}
