import { z } from "zod";
import { Clock } from "../wire/distribution.ts";
import { idSchema } from "../wire/id.ts";
import { LIMITS } from "../wire/limits.ts";
import { Instant } from "../wire/page.ts";
import { ReportFormat, ReportRun } from "./run.ts";
import { ConfigurationText, SubjectKind } from "./series.ts";

const EARLIEST = "2000-01-01T00:00:00Z";

/** When something was measured; the edge also refuses what lies far ahead of its clock. */
const MeasuredAt = Instant.refine((at) => Date.parse(at) >= Date.parse(EARLIEST), `must not lie before ${EARLIEST}`);

/** A finite number whose sums stay finite. */
const Reported = z.number().min(-LIMITS.reportedMagnitude).max(LIMITS.reportedMagnitude);

/** Raw samples. The first wrong one is named: a schema of each would take longer than all else of a report. */
const Samples = z
  .custom<number[]>()
  .superRefine((values: unknown, context) => {
    // What follows could not read other values.
    const fail = (message: string, ...path: number[]) =>
      context.addIssue({ code: "custom", path, message, continue: false });
    if (!Array.isArray(values)) return fail("must be an array");
    if (values.length === 0 || values.length > LIMITS.reportedSamples) {
      return fail(`must have 1 to ${LIMITS.reportedSamples} numbers`);
    }
    const most = LIMITS.reportedMagnitude;
    const wrong = values.findIndex((value) => typeof value !== "number" || !(Math.abs(value) <= most));
    if (wrong >= 0) fail(`must be a number from ${-most} to ${most}`, wrong);
  })
  .meta({
    type: "array",
    items: { type: "number", minimum: -LIMITS.reportedMagnitude, maximum: LIMITS.reportedMagnitude },
    minItems: 1,
    maxItems: LIMITS.reportedSamples,
    description: "Raw samples",
  });

/** Rounding error allowed in a reported sum, relative to the largest magnitude. */
const SUM_TOLERANCE = 1e-6;

/**
 * Values that are already added up. Where there is no sketch, percentiles are estimated: from those that are
 * given, else from the mean and the extremes.
 */
const ReportedAggregate = z
  .strictObject({
    count: z.number().int().min(1).max(LIMITS.reportedCount),
    min: Reported,
    max: Reported,
    sum: z
      .number()
      .min(-LIMITS.reportedMagnitude * LIMITS.reportedCount)
      .max(LIMITS.reportedMagnitude * LIMITS.reportedCount),
    sketch: z.string().max(LIMITS.reportedSketchLength).optional().meta({ description: "See methodology" }),
    percentiles: z
      .record(z.string().regex(/^p[0-9]{1,2}(\.[0-9]{1,4})?$/, "must be names such as p50 or p99.9"), Reported)
      .optional(),
  })
  .superRefine(({ count, min, max, sum, sketch, percentiles = {} }, context) => {
    const fail = (field: string, message: string) => context.addIssue({ code: "custom", path: [field], message });
    if (min > max) fail("max", "must not be less than min");
    const slack = SUM_TOLERANCE * Math.max(Math.abs(min), Math.abs(max));
    if (sum / count < min - slack || sum / count > max + slack) fail("sum", "must have a mean between min and max");
    if (Object.keys(percentiles).length === 0) return;
    if (sketch !== undefined) fail("percentiles", "must not stand beside a sketch, which has them");
    const ordered = Object.entries(percentiles).toSorted(([a], [b]) => Number(a.slice(1)) - Number(b.slice(1)));
    const values = [min, ...ordered.map(([, value]) => value), max];
    if (values.some((value, index) => index > 0 && value < values[index - 1]! - slack)) {
      fail("percentiles", "must rise from min to max");
    }
  });
export type ReportedAggregate = z.infer<typeof ReportedAggregate>;

const ReportedMeasurement = z
  .strictObject({
    subject: z.string().min(1).max(256),
    subjectKind: SubjectKind.default("benchmark"),
    metric: z.string().min(1).max(64),
    unit: z.string().max(16),
    direction: z.enum(["lower", "higher"]).default("lower").meta({ description: "Which way is better" }),
    clock: Clock.optional(),
    configuration: z
      .record(z.string().min(1).max(LIMITS.nameLength), z.union([z.string().max(LIMITS.configurationLength), Reported]))
      .refine(
        (entries) => Object.keys(entries).length <= LIMITS.configurationEntries,
        `must have at most ${LIMITS.configurationEntries} entries`,
      )
      .default({}),
    label: z.string().max(LIMITS.nameLength).optional().meta({ description: "Absent: the report's" }),
    at: MeasuredAt.optional().meta({ description: "Absent: the report's" }),
    values: Samples.optional(),
    value: Reported.optional(),
    aggregate: ReportedAggregate.optional(),
  })
  .refine(
    ({ values, value, aggregate }) => [values, value, aggregate].filter((given) => given !== undefined).length === 1,
    "must have exactly one of values, value and aggregate",
  );
export type ReportedMeasurement = z.infer<typeof ReportedMeasurement>;

const hardware = z.string().min(1).max(256);

/** Host of a reported run. Another value is another fingerprint, and so another series. */
const ReportedHost = z
  .strictObject({
    cpu: hardware.optional(),
    adapter: hardware.optional(),
    driver: hardware.optional(),
    dawn: hardware.optional(),
    toggles: z.array(hardware).max(64).optional(),
    ort: hardware.optional(),
  })
  .refine(
    (host) => JSON.stringify(host).length <= LIMITS.reportedHostLength,
    `must have at most ${LIMITS.reportedHostLength} characters as JSON: it stands in the key of every series`,
  )
  .meta({ id: "ReportedHost" });
export type ReportedHost = z.infer<typeof ReportedHost>;

/** A run that was measured outside. */
export const ReportInput = z
  .strictObject({
    run: z.string().min(1).max(LIMITS.runNameLength).optional().meta({
      description: "Its name, unique for the key: sent again, it is the same run. Absent: a digest of the content",
    }),
    at: MeasuredAt.optional().meta({ description: "Absent: when it comes" }),
    label: z.string().max(LIMITS.nameLength).optional().meta({ description: "A branch, a tag, a user" }),
    revision: z.string().min(1).max(LIMITS.revisionLength).optional().meta({
      description: "Commit of what was measured",
    }),
    host: ReportedHost.optional(),
    software: z.boolean().default(false).meta({ description: "Whether it ran on an emulated GPU" }),
    measurements: z.array(ReportedMeasurement).min(1).max(LIMITS.reportMeasurements),
  })
  .refine(
    ({ measurements }) =>
      measurements.reduce((sum, { values = [] }) => sum + values.length, 0) <= LIMITS.reportedSamplesInAll,
    { path: ["measurements"], message: `must have at most ${LIMITS.reportedSamplesInAll} values in all` },
  )
  .meta({ id: "ReportInput" });
export type ReportInput = z.infer<typeof ReportInput>;

/** Format of the body and fields that its tool does not record. A value given here overrides the body's. */
export const ReportQuery = z.strictObject({
  format: ReportFormat.default("native").meta({ description: "Which tool wrote the body; `native`: our own form" }),
  run: ReportInput.shape.run,
  at: ReportInput.shape.at,
  label: ReportInput.shape.label,
  revision: ReportInput.shape.revision,
  subject: z.string().min(1).max(256).optional().meta({ description: "Stands before every subject, with a /" }),
  cpu: hardware.optional().meta({ description: "Model of the processor that it was measured on" }),
  adapter: hardware.optional().meta({ description: "Name of the graphics adapter, where it was measured on one" }),
  driver: hardware.optional().meta({ description: "Its driver, with the version" }),
  software: z.stringbool().optional().meta({ type: "boolean", description: "Whether the adapter is emulated" }),
  configuration: ConfigurationText.optional().meta({
    type: "string",
    description: "Added to every measurement's: `os=linux,threads=4`",
  }),
});
export type ReportQuery = z.infer<typeof ReportQuery>;

export const ReportReply = z
  .object({ run: ReportRun, points: z.number().int(), series: z.array(idSchema("series")) })
  .meta({ id: "ReportReply" });
export type ReportReply = z.infer<typeof ReportReply>;
