import { z } from "zod";

/** Message of a run to its guardian: a group of processes that began or ended, or a folder of its own. */
export const GuardianOrder = z.object({
  began: z.number().optional(),
  ended: z.number().optional(),
  folder: z.string().optional(),
});
export type GuardianOrder = z.infer<typeof GuardianOrder>;
