import { z } from "@hono/zod-openapi";
import { Instant } from "./page.ts";

/**
 * One event of `GET /v1/events`: something of this kind changed and is worth reading again. The
 * server-sent event's name is `type`, its data this object.
 */
export const FeedEvent = z
  .object({
    type: z.enum(["runner", "job", "history", "alert"]),
    id: z.string().nullable(),
    at: Instant,
  })
  .openapi("FeedEvent");
export type FeedEvent = z.infer<typeof FeedEvent>;
