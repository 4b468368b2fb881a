import { z } from "@hono/zod-openapi";
import { DeviceHealth, HealthReport } from "./health.ts";
import { LIMITS } from "./limits.ts";

/** How a runner is over the last moment: of a report of health what moves by the second, and is small. */
export const LiveReport = HealthReport.omit({ placements: true, memory: true })
  .extend({ devices: z.array(DeviceHealth.omit({ queueMs: true, kernels: true })).max(LIMITS.devices) })
  .openapi("LiveReport");
export type LiveReport = z.infer<typeof LiveReport>;

/**
 * One event of `GET /v1/runners/{id}/live`: whether the runner is connected, first and whenever that changes, and how
 * it is, every second. The server-sent event's name is `type`, its data this object.
 */
export const LiveEvent = z
  .discriminatedUnion("type", [
    z.object({ type: z.literal("online") }),
    z.object({ type: z.literal("offline") }),
    z.object({ type: z.literal("report"), report: LiveReport }),
  ])
  .openapi("LiveEvent");
export type LiveEvent = z.infer<typeof LiveEvent>;
