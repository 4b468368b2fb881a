import { z } from "zod";
import { Change, FoundChange } from "./alert.ts";
import { idSchema } from "../wire/id.ts";
import { LIMITS } from "../wire/limits.ts";
import { Instant } from "../wire/page.ts";
import { Series, selectorFields } from "./series.ts";

/** Otava's parameters, and ours for what is not a change. */
const DetectionParameters = z
  .strictObject({
    windowPoints: z.number().int().min(4).max(LIMITS.thresholdWindow).optional(),
    maxP: z.number().gt(0).lt(1).optional(),
    minMagnitude: z.number().min(0).max(1_000).optional(),
    minSegment: z.number().int().min(0).max(LIMITS.thresholdWindow).optional().meta({
      description: "Fewer points in a row are a spike; 0: Otava's own answer, spikes and all",
    }),
  })
  .meta({ id: "DetectionParameters" });
export type DetectionParameters = z.infer<typeof DetectionParameters>;

export const DetectionInput = z
  .strictObject({
    selector: z.strictObject(selectorFields),
    parameters: DetectionParameters.default({}),
    dryRun: z.boolean().default(false).meta({ description: "Tell what would be found, and keep nothing of it" }),
  })
  .meta({ id: "DetectionInput" });
export type DetectionInput = z.infer<typeof DetectionInput>;

export const Detection = z
  .object({
    series: z.number().int().meta({ description: "Series that were searched" }),
    items: z.array(z.object({ seriesId: idSchema("series"), changes: z.array(FoundChange) })).meta({
      description: "Series in which something was found",
    }),
    newAlerts: z.array(idSchema("alert")),
    truncated: z.boolean().meta({
      description: `Whether the selector means more than ${LIMITS.searchedSeries} series: the newest were searched`,
    }),
  })
  .meta({ id: "Detection" });
export type Detection = z.infer<typeof Detection>;

/** A series of the same key on one piece of hardware. */
export const HardwareSpan = z
  .object({
    seriesId: idSchema("series"),
    fingerprintId: idSchema("fingerprint").nullable(),
    from: Instant,
    to: Instant,
  })
  .meta({ id: "HardwareSpan" });
export type HardwareSpan = z.infer<typeof HardwareSpan>;

export const SeriesDetail = Series.extend({
  successorOf: idSchema("series").nullable().meta({
    description: "The series that ended on other hardware before this one began",
  }),
  succeededBy: idSchema("series").nullable(),
  hardware: z.array(HardwareSpan).meta({
    description: "All series that differ from this one by their fingerprint only, this one among them",
  }),
}).meta({ id: "SeriesDetail" });
export type SeriesDetail = z.infer<typeof SeriesDetail>;

export const NoiseQuery = z.strictObject({
  change: z.coerce.number().gt(0).max(1_000).optional().meta({
    description: "A relative change, such as 0.05, for which to tell how many runs it needs",
  }),
  runs: z.coerce.number().int().min(2).max(10_000).default(10).meta({ description: "Runs on either side" }),
});

export const NoiseReply = z
  .object({
    points: z.number().int().meta({ description: "Points that this rests on, the latest ones" }),
    withinRun: z.number().nullable().meta({ description: "How far single values of a run lie apart, as a share" }),
    betweenRun: z.number().nullable().meta({ description: "How far runs lie apart, as a share" }),
    runs: z.number().int(),
    smallestDetectable: z.number().nullable().meta({
      description: "The smallest relative change that so many runs a side would show",
    }),
    runsNeeded: z.number().int().nullable().meta({ description: "Runs a side that `change` needs" }),
    reason: z.string().nullable().meta({ description: "Why something is null; null where nothing that was asked is" }),
  })
  .meta({ id: "NoiseReply" });
export type NoiseReply = z.infer<typeof NoiseReply>;

export const ChangesQuery = z
  .strictObject({
    series: idSchema("series"),
    from: Instant.optional().meta({ description: "Absent: from the beginning" }),
    to: Instant.optional().meta({ description: "Absent: to the end" }),
  })
  .refine(({ from, to }) => from === undefined || to === undefined || Date.parse(from) < Date.parse(to), {
    path: ["to"],
    message: "must lie after from",
  });

/** Marks of a series' plot. */
export const ChangesReply = z
  .object({
    changes: z.array(Change).meta({ description: "Oldest first" }),
    spikes: z.array(z.object({ at: Instant, value: z.number(), runId: idSchema("run").nullable() })),
    hardware: z.array(HardwareSpan),
  })
  .meta({ id: "ChangesReply" });
export type ChangesReply = z.infer<typeof ChangesReply>;
