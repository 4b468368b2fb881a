import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import { LINK_SUBPROTOCOL } from "../../protocol/link.ts";
import { VERSION } from "../../protocol/wire/release.ts";
import { chooseMetricsForm, METRICS_MEDIA_TYPES, renderMetrics } from "../../telemetry/render-metrics.ts";
import { mutable } from "../http/answers.ts";
import { type AppEnv, bind, inTurn } from "../http/bind.ts";
import { openApiBytes } from "../http/openapi.ts";
import { collectMetrics } from "../metrics/collect-metrics.ts";
import { openStream } from "../queue/open-stream.ts";

/** `GET /metrics`, in the format of Prometheus. */
export function bindMetrics(app: Hono<AppEnv>): void {
  bind(app, endpoints.readMetrics, async ({ c, env }) => {
    const form = chooseMetricsForm(c.req.header("accept"));
    const text = renderMetrics(await collectMetrics(env), form);
    return c.body(text, 200, { "content-type": METRICS_MEDIA_TYPES[form], vary: "accept" });
  });
}

/** Health, the live feed, the OpenAPI document, and the dashboard's files. */
export function bindService(app: Hono<AppEnv>): void {
  bind(app, endpoints.getHealth, async ({ c }) => {
    // Cloudflare sends a date with every reply, workerd on one machine does not; clients check their clocks by it.
    c.header("date", new Date().toUTCString());
    return { status: "ok" as const, version: VERSION, linkProtocols: [LINK_SUBPROTOCOL] };
  });
  bind(app, endpoints.streamEvents, async ({ env }) => {
    const stream = await openStream(env, "feed");
    if (stream === null) throw new Error("the queue has no feed");
    return stream;
  });
  const openApiHeaders = { "content-type": "application/json" };
  app.get("/openapi.json", (c) => inTurn(c, "other", async () => c.body(openApiBytes(), 200, openApiHeaders)));
  for (const path of ["/", "/docs", "/docs/problems", "/assets/*"])
    app.get(path, (c) => inTurn(c, "other", async () => mutable(await c.env.ASSETS.fetch(c.req.raw))));
}
