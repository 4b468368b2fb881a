import { z } from "@hono/zod-openapi";
import { Clock } from "./distribution.ts";
import { idSchema } from "./id.ts";

/** What a run timed, value by value and in order, where that was kept. */
export const RunSamples = z
  .object({
    measurements: z.array(
      z.object({
        subject: z.string(),
        metric: z.string(),
        unit: z.string(),
        clock: Clock.nullable(),
        /** Absent where the runner sent it, which knows no series. */
        series: idSchema("series").optional(),
        values: z.array(z.number()),
      }),
    ),
  })
  .openapi("RunSamples");
export type RunSamples = z.infer<typeof RunSamples>;
