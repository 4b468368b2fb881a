import { z } from "zod";
import { Instant } from "../wire/page.ts";

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
  .meta({ id: "FeedEvent" });
export type FeedEvent = z.infer<typeof FeedEvent>;

/** That an edge answers, and what it is. */
export const ServiceHealth = z.object({
  status: z.literal("ok"),
  /** Its release. */
  version: z.string(),
  /** Protocols of the link that runners may offer; absent from the first release, which had one. */
  linkProtocols: z.array(z.string()).optional(),
});
export type ServiceHealth = z.infer<typeof ServiceHealth>;
