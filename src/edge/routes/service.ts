import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import { VERSION } from "../../protocol/version.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { mutable } from "../http/mutable.ts";
import { openApiDocument } from "../http/openapi.ts";
import { jobQueue } from "../stubs.ts";

/** Health, the live feed, the OpenAPI document, and the page's files. */
export function bindService(app: Hono<AppEnv>): void {
  bind(app, endpoints.getHealth, async ({ c }) => {
    // Cloudflare sends a date with every reply, workerd on one machine does not; clocks are checked by it.
    c.header("date", new Date().toUTCString());
    return { status: "ok" as const, version: VERSION };
  });
  bind(app, endpoints.streamEvents, async ({ c, env }) =>
    mutable(await jobQueue(env).fetch(new URL(`/${env.project}/feed`, c.req.url))),
  );
  app.get("/openapi.json", (c) => c.json(openApiDocument()));
  for (const path of ["/", "/docs", "/docs/problems", "/assets/*"])
    app.get(path, async (c) => mutable(await c.env.ASSETS.fetch(c.req.raw)));
}
