import { z } from "zod";
import { idSchema } from "../wire/id.ts";
import { LIMITS } from "../wire/limits.ts";
import { Instant, Name, pageOf } from "../wire/page.ts";
import { SeriesKey, seriesSelection } from "./series.ts";

const { subject, subjectKind, metric, fingerprint, variant, backend } = seriesSelection;

const baselineFields = {
  run: idSchema("run").optional(),
  label: z.string().min(1).max(LIMITS.nameLength).optional(),
  window: z
    .strictObject({ from: Instant, to: Instant })
    .refine(({ from, to }) => Date.parse(from) < Date.parse(to), { path: ["to"], message: "must lie after from" })
    .optional(),
  selection: z
    .strictObject({ subject, subjectKind, metric, fingerprint, variant, backend })
    .optional()
    .meta({ description: "Only series with these dimensions" }),
};

/** A name for what later runs are held against: a run, or a label, a window, or both of these. */
export const BaselineInput = z
  .strictObject(baselineFields)
  .refine(({ run, label, window }) => (run === undefined) !== (label === undefined && window === undefined), {
    path: ["run"],
    message: "must be given, or else a label, a window or both",
  })
  .meta({ id: "BaselineInput" });
export type BaselineInput = z.infer<typeof BaselineInput>;

export const Baseline = z
  .object({ ...baselineFields, name: Name, version: z.number().int(), updatedAt: Instant })
  .meta({ id: "Baseline" });
export type Baseline = z.infer<typeof Baseline>;
export const BaselinePage = pageOf(Baseline, "Baseline");

/** Instants with a slash between; an end that is left out is open. */
const WindowText = z
  .string()
  .regex(/^[^/]*\/[^/]*$/, "must be two instants with / between")
  .transform((text) => {
    const [from = "", to = ""] = text.split("/");
    return { from: from === "" ? undefined : from, to: to === "" ? undefined : to };
  })
  .pipe(z.object({ from: Instant.or(z.undefined()), to: Instant.or(z.undefined()) }))
  .refine(
    ({ from, to }) => from === undefined || to === undefined || Date.parse(from) < Date.parse(to),
    "must end after it begins",
  );

/** Selector of one side of a comparison; all given conditions must hold. */
export const Side = z.strictObject({
  run: idSchema("run").optional(),
  label: z.string().min(1).max(LIMITS.nameLength).optional(),
  window: WindowText.optional(),
  device: idSchema("fingerprint").optional(),
  series: idSchema("series").optional(),
  baseline: z.string().min(1).max(LIMITS.nameLength).optional(),
  revision: z.string().min(1).max(LIMITS.revisionLength).optional(),
  last: z.coerce.number().int().min(1).max(LIMITS.comparedPoints).optional(),
});
export type Side = z.infer<typeof Side>;

const SIDE_LENGTH = 512;

/** Parses `label:main;window:2026-01-01T00:00:00Z/;last:20`; `wrong` is the reason where it cannot. */
export function parseSide(text: string): { readonly side: Side } | { readonly wrong: string } {
  const parts: Record<string, string> = {};
  for (const part of text.split(";")) {
    const [, name, value] = /^([a-z]+):(.*)$/s.exec(part) ?? [];
    if (name === undefined || value === undefined)
      return { wrong: `must be parts such as label:main, with ; between; ${JSON.stringify(part)} is none` };
    if (name in parts) return { wrong: `names ${name} twice` };
    parts[name] = value;
  }
  const parsed = Side.safeParse(parts);
  if (parsed.success) return { side: parsed.data };
  const [issue] = parsed.error.issues;
  if (issue?.code === "unrecognized_keys")
    return { wrong: `names ${issue.keys.join()}, which is none of ${Object.keys(Side.shape).join(", ")}` };
  return { wrong: `${String(issue?.path[0] ?? "side")} ${issue?.message ?? "is wrong"}` };
}

const SideText = z
  .string()
  .max(SIDE_LENGTH)
  .superRefine((text, context) => {
    const read = parseSide(text);
    if ("wrong" in read) context.addIssue({ code: "custom", message: read.wrong });
  });

export const Statistic = z.enum(["p50", "p95", "p99", "mean"]);
export type Statistic = z.infer<typeof Statistic>;

/**
 * A percentile from a sketch is off by 0.5 % at most, a ratio of two by 1 %: nothing smaller is claimed.
 */
export const SMALLEST_EFFECT = 0.01;

export const CompareQuery = z.strictObject({
  a: SideText.meta({
    description:
      "`run:`, `label:`, `window:<from>/<to>`, `device:`, `series:`, `baseline:`, `revision:` or `last:<runs>`, several with `;` between",
    example: "label:main;last:30",
  }),
  b: SideText.meta({ description: "The same, of what is judged", example: "run:run_01k9zq8b8e5x3v6m2n4p7r9t1w" }),
  statistic: Statistic.default("p50").meta({ description: "What of each run is compared" }),
  minimumEffect: z.coerce
    .number()
    .min(SMALLEST_EFFECT)
    .max(1)
    .default(SMALLEST_EFFECT)
    .meta({ description: "Relative change that counts; below 1 % sketches could not tell" }),
  confidence: z.coerce
    .number()
    .min(0.5)
    .max(0.9999)
    .default(0.95)
    .meta({ description: "Of the intervals, and of all verdicts together" }),
  ...seriesSelection,
});
export type CompareQuery = z.infer<typeof CompareQuery>;

const Interval = z.object({ low: z.number(), high: z.number() }).nullable();
const Estimated = z.object({ value: z.number(), interval: Interval });

const ComparedSide = z
  .object({
    seriesId: idSchema("series"),
    label: z.string().nullable(),
    fingerprintId: idSchema("fingerprint").nullable(),
    runs: z.number().int().meta({ description: "0 where only merged samples of live requests are known" }),
    samples: z.number().int(),
    value: z.number().meta({
      description: "Median of the runs' statistics; their mean where a prediction is judged; that of all samples",
    }),
    interval: Interval.meta({ description: "Of the value, 95 %; null where there is too little for one" }),
    min: z.number().meta({ description: "Exact, of all samples" }),
    max: z.number().meta({ description: "Exact, of all samples" }),
    from: Instant,
    to: Instant,
    latestRunId: idSchema("run").nullable(),
    latestRevision: z.string().nullable(),
    truncated: z.boolean().meta({ description: "Whether older runs were left out" }),
  })
  .meta({ id: "ComparedSide" });
export type ComparedSide = z.infer<typeof ComparedSide>;

export const ComparedPair = z
  .object({
    key: SeriesKey.omit({ fingerprint: true, software: true, label: true }),
    a: ComparedSide,
    b: ComparedSide,
    observation: z.enum(["runs", "prediction", "samples"]).meta({
      description:
        "What is counted: runs on both sides (5 or more); few runs against a prediction from the other side's; samples within runs, which say nothing about noise between runs",
    }),
    ratio: Estimated.nullable().meta({ description: "B ÷ A; null where they do not have one sign" }),
    difference: Estimated.meta({ description: "B − A, in the metric's unit" }),
    predicted: Interval.meta({ description: "Where the few should lie if nothing changed" }),
    test: z.enum(["mann-whitney", "student-t"]).nullable(),
    p: z.number().nullable().meta({ description: "Two-sided; null where nothing was tested" }),
    adjustedP: z.number().nullable().meta({ description: "By Benjamini and Hochberg, among all pairs" }),
    delta: z.number().nullable().meta({ description: "Cliff's δ, above 0 where B is above A" }),
    effect: z.enum(["negligible", "small", "medium", "large"]).nullable(),
    verdict: z.enum(["better", "worse", "same", "unclear"]),
    summary: z.string(),
    warnings: z.array(z.string()),
  })
  .meta({ id: "ComparedPair" });
export type ComparedPair = z.infer<typeof ComparedPair>;

const UnpairedSeries = z
  .object({
    side: z.enum(["a", "b"]),
    seriesId: idSchema("series"),
    key: SeriesKey.omit({ fingerprint: true, software: true }),
    reason: z.enum(["no-partner", "no-runs", "same-runs"]).meta({
      description:
        "No series of the other side is alike; nothing was measured here or there; both sides hold the same runs",
    }),
  })
  .meta({ id: "UnpairedSeries" });
export type UnpairedSeries = z.infer<typeof UnpairedSeries>;

const ResolvedSide = z
  .object({
    text: z.string(),
    baseline: z
      .object({ name: z.string(), source: z.enum(["pinned", "label"]) })
      .nullable()
      .meta({ description: "`label` where no baseline of that name is pinned, and the label is meant" }),
    run: idSchema("run").nullable(),
    label: z.string().nullable(),
    revision: z.string().nullable(),
    device: idSchema("fingerprint").nullable(),
    from: Instant.nullable(),
    to: Instant.nullable(),
    last: z.number().int().nullable(),
    series: z.number().int().meta({ description: "How many it has" }),
  })
  .meta({ id: "ResolvedSide" });
export type ResolvedSide = z.infer<typeof ResolvedSide>;

export const ComparisonReply = z
  .object({
    a: ResolvedSide,
    b: ResolvedSide,
    statistic: Statistic,
    minimumEffect: z.number(),
    confidence: z.number(),
    pairs: z.array(ComparedPair),
    unpaired: z.array(UnpairedSeries),
    notes: z.array(z.string()).meta({ description: "What the figures rest on, in words" }),
  })
  .meta({ id: "Comparison" });
export type ComparisonReply = z.infer<typeof ComparisonReply>;
