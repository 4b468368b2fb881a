import { z } from "zod";
import { Clock } from "../wire/distribution.ts";
import { Fingerprint } from "../fleet/hardware.ts";
import { idSchema } from "../wire/id.ts";
import { LIMITS } from "../wire/limits.ts";
import { Instant, PageQuery, pageOf } from "../wire/page.ts";
import { formatQuery } from "../wire/table-format.ts";

/** Subject of a series; a `benchmark` was measured outside. */
export const SubjectKind = z.enum(["kernel", "model", "policy", "benchmark"]).meta({ id: "SubjectKind" });

/** Identity of a series: another value of any field is another series. The series' id is the digest of this key. */
export const SeriesKey = z.object({
  subjectKind: SubjectKind,
  subject: z.string().max(256).meta({ description: "`gemm` or `lenet5@1`" }),
  metric: z.string().max(64).meta({ description: "`gpuMs`, `wallMs`, `gflops`, `totalMs` …" }),
  unit: z.string().max(16),
  clock: Clock.nullable().meta({
    description: "What durations and rates were read from; null for what has no clock",
  }),
  direction: z.enum(["lower", "higher"]).meta({ description: "Which way is better" }),
  configuration: z.record(z.string(), z.union([z.string(), z.number()])).meta({
    description: "Shape, type, variant, backend, batch, environment: whatever else it was measured under",
  }),
  fingerprint: Fingerprint.nullable(),
  software: z.boolean(),
  label: z.string().max(LIMITS.nameLength).nullable().meta({ description: "A branch, a tag, a user" }),
});
export type SeriesKey = z.infer<typeof SeriesKey>;

/** The key alone of what has one. */
export function keyOf(series: SeriesKey): SeriesKey {
  const { subjectKind, subject, metric, unit, clock, direction, configuration, fingerprint, software, label } = series;
  return { subjectKind, subject, metric, unit, clock, direction, configuration, fingerprint, software, label };
}

export const Series = SeriesKey.extend({
  id: idSchema("series"),
  fingerprintId: idSchema("fingerprint").nullable(),
  createdAt: Instant,
  lastPointAt: Instant.nullable(),
  points: z.number().int(),
  mutedAt: Instant.nullable().meta({ description: "Since when its changes alert nobody; null while they do" }),
}).meta({ id: "Series" });
export type Series = z.infer<typeof Series>;
export const SeriesPage = pageOf(Series, "Series");

/** Names with their values, as in `m=256,dtype=float32`. */
export const ConfigurationText = z
  .string()
  .max(1_024)
  .regex(
    /^[A-Za-z][\w.-]*=[^,=]+(,[A-Za-z][\w.-]*=[^,=]+)*$/,
    "must be names with their values, such as m=256,dtype=float32",
  )
  .transform((text): Record<string, string> => Object.fromEntries(text.split(",").map((part) => part.split("="))));

const SeriesIds = z
  .string()
  .transform((text) => text.split(","))
  .refine(
    (ids) => ids.length <= LIMITS.queriedSeries && ids.every((id) => idSchema("series").safeParse(id).success),
    `must be at most ${LIMITS.queriedSeries} ids like ser_…, with commas between`,
  );

/** The dimensions of a series that a query and a body say alike. */
const dimensions = {
  subject: z.string().max(256).optional().meta({ description: "What was measured, such as `gemm` or `lenet5@1`" }),
  subjectKind: SubjectKind.optional().meta({ description: "What the subject is" }),
  metric: z.string().max(64).optional().meta({ description: "Such as `gpuMs` or `totalMs`" }),
  unit: z.string().max(16).optional().meta({ description: "Unit of the metric, such as `ms`" }),
  clock: Clock.optional().meta({ description: "What durations were read from" }),
  label: z.string().max(LIMITS.nameLength).optional().meta({ description: "A branch, a tag, a user" }),
  fingerprint: idSchema("fingerprint").optional().meta({ description: "Id of the hardware that it was measured on" }),
  variant: z.string().max(64).optional().meta({ description: "Variant of the kernel or model" }),
  backend: z.string().max(64).optional().meta({ description: "What executed it" }),
};

/** Any dimension of a series, as query parameters; all that are given must hold. */
export const seriesSelection = {
  series: SeriesIds.optional().meta({ type: "string", description: "Ids of series, with commas between" }),
  ...dimensions,
  software: z.stringbool().optional().meta({ type: "boolean", description: "Whether on a software device" }),
  batch: z.coerce.number().int().min(1).optional().meta({ description: "Rows of a batch" }),
  configuration: ConfigurationText.optional().meta({
    type: "string",
    description: "Further configuration by name: `m=256,n=256`",
  }),
};
const SeriesSelector = z.object(seriesSelection);
export type SeriesSelector = Omit<z.infer<typeof SeriesSelector>, "configuration"> & {
  readonly configuration?: Readonly<Record<string, string | number>> | undefined;
};

/** The same in a JSON body: the series for which all that is given holds. */
export const selectorFields = {
  series: z.array(idSchema("series")).max(LIMITS.queriedSeries).optional(),
  ...dimensions,
  software: z.boolean().optional(),
  batch: z.number().int().min(1).optional(),
  configuration: z
    .record(z.string().max(64), z.union([z.string().max(256), z.number()]))
    .refine((fields) => Object.keys(fields).length <= LIMITS.labelCount, `at most ${LIMITS.labelCount} fields`)
    .optional(),
};

export const SeriesQuery = PageQuery.extend({ ...seriesSelection, ...formatQuery });
export type SeriesQuery = z.infer<typeof SeriesQuery>;
