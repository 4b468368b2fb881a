import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import { configurePlacement, mustFindPlacement } from "../fleet/configure-placement.ts";
import { type AppEnv, bind } from "../http/bind.ts";

export function bindPlacements(app: Hono<AppEnv>): void {
  bind(app, endpoints.getPlacement, ({ env, params }) => mustFindPlacement(env, params.id));

  bind(app, endpoints.configurePlacement, async ({ c, env, params, body }) => {
    const { placement, jobId } = await configurePlacement(env, params.id, body);
    c.header("location", `/v1/jobs/${jobId}`);
    return placement;
  });
}
