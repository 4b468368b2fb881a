import { z } from "@hono/zod-openapi";

/** That an edge answers, and what it is. */
export const ServiceHealth = z.object({
  status: z.literal("ok"),
  /** Its release. */
  version: z.string(),
  /** Protocols of the link that runners may offer; absent from the first release, which had one. */
  linkProtocols: z.array(z.string()).optional(),
});
export type ServiceHealth = z.infer<typeof ServiceHealth>;
