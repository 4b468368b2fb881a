import { z } from "zod";
import { Clock } from "../wire/distribution.ts";
import { Instant, Name } from "../wire/page.ts";

/** The best that one of our own kernels reached on a device: the median of some rounds. */
export const Peak = z
  .object({
    value: z.number().positive(),
    kernel: Name,
    variant: Name,
    axes: z.record(z.string(), z.number()),
    shape: z.record(z.string(), z.number().int()),
    clock: Clock,
    rounds: z.number().int().min(1),
    min: z.number(),
    max: z.number(),
  })
  .meta({ id: "Peak" });
export type Peak = z.infer<typeof Peak>;

/** A device's roofs as measured there, after Williams, Waterman and Patterson (Communications of the ACM, 2009). */
export const Roofline = z
  .object({
    measuredAt: Instant,
    tookMs: z.number(),
    loadAverage: z.number().meta({ description: "One-minute load average when it was measured" }),
    gflops: z
      .object({ float32: Peak.nullable(), float16: Peak.nullable(), int8: Peak.nullable() })
      .meta({ description: "Peak arithmetic by type, in 10⁹ operations a second; a multiply-add is two" }),
    gigabytesPerSecond: z
      .object({ triad: Peak.nullable(), copy: Peak.nullable(), read: Peak.nullable() })
      .meta({ description: "Peak bandwidth by pattern; the highest is the roof" }),
    missing: z.record(z.string(), z.string()).meta({ description: "Why a peak is null, by its name" }),
  })
  .meta({ id: "Roofline" });
export type Roofline = z.infer<typeof Roofline>;

/** Position of a benchmark under its device's roofs. Unknown values are null, and `note` gives the reason. */
export const RooflinePosition = z
  .object({
    arithmeticIntensity: z.number().nullable().meta({ description: "Operations per byte that has to be moved" }),
    roof: z.number().nullable().meta({
      description:
        "min(peak arithmetic, intensity × peak bandwidth) in GFLOP/s; peak bandwidth in GB/s without operations",
    }),
    unit: z.enum(["GFLOP/s", "GB/s"]),
    shareOfRoof: z.number().nullable().meta({ description: "Above 1 where the data came from caches" }),
    bound: z.enum(["memory", "compute"]).nullable(),
    peakGflops: z.number().nullable(),
    peakGigabytesPerSecond: z.number().nullable(),
    measuredAt: Instant.nullable().meta({ description: "When the roofs were measured" }),
    note: z.string().nullable(),
  })
  .meta({ id: "RooflinePosition" });
export type RooflinePosition = z.infer<typeof RooflinePosition>;
