import { z } from "zod";
import { Finding } from "../fleet/health.ts";
import { idSchema } from "../wire/id.ts";
import { LIMITS } from "../wire/limits.ts";
import { Instant, PageQuery, pageOf } from "../wire/page.ts";
import { SeriesKey } from "./series.ts";
import { Statistic, ThresholdTest } from "./threshold.ts";

export const ChangeDirection = z.enum(["regression", "improvement"]).meta({ id: "ChangeDirection" });
export type ChangeDirection = z.infer<typeof ChangeDirection>;

const Range = z.object({ low: z.number(), high: z.number() });

/** Evidence of a change. Levels are in the unit of the series, shares are relative to the level before. */
export const ChangeEvidence = z.object({
  statistic: Statistic,
  from: z.number(),
  to: z.number(),
  relativeChange: z.number().nullable(),
  interval: Range.nullable().meta({ description: "95 % of the relative change" }),
  p: z.number().nullable(),
  confidence: z.number().nullable(),
  noiseFloor: z.number().nullable().meta({
    description: "The share that counted as noise, where the history was too quiet to tell; null where it did tell",
  }),
  pointsBefore: z.number().int(),
  pointsAfter: z.number().int(),
  completeAt: Instant.meta({ description: "When the new level was reached: later than `at` for a drift" }),
  oldRange: Range.nullable().meta({ description: "Where the middle 80 % of the points before lay" }),
  previousRunId: idSchema("run").nullable().meta({ description: "The last run before the change" }),
  previousRevision: z.string().nullable(),
  returnedAt: Instant.nullable().meta({ description: "Since when the series is at its old level again" }),
  withdrawnAt: Instant.nullable().meta({
    description: "Since when the points that came later say that it was none, as of a series that flips to and fro",
  }),
  limits: z
    .object({
      threshold: z.string(),
      test: ThresholdTest,
      baseline: z.number().nullable(),
      lowerLimit: z.number().nullable(),
      upperLimit: z.number().nullable(),
    })
    .nullable()
    .meta({ description: "Of the threshold that was broken; null for a change point" }),
});
export type ChangeEvidence = z.infer<typeof ChangeEvidence>;

/** A shift of one series: `at` is the first point of the new regime, `after` the last one of the old. */
export const FoundChange = ChangeEvidence.extend({
  kind: z.enum(["step", "drift", "threshold"]),
  direction: ChangeDirection,
  thresholdId: idSchema("threshold").nullable(),
  after: Instant,
  at: Instant,
  runId: idSchema("run").nullable(),
  revision: z.string().nullable(),
}).meta({ id: "FoundChange" });
export type FoundChange = z.infer<typeof FoundChange>;

const ChangedSeries = SeriesKey.pick({
  subjectKind: true,
  subject: true,
  metric: true,
  unit: true,
  direction: true,
  configuration: true,
  label: true,
})
  .extend({ id: idSchema("series"), fingerprintId: idSchema("fingerprint").nullable() })
  .meta({ id: "ChangedSeries" });

export const Change = FoundChange.extend({
  id: idSchema("change"),
  alertId: idSchema("alert"),
  series: ChangedSeries,
  createdAt: Instant,
}).meta({ id: "Change" });
export type Change = z.infer<typeof Change>;

export const AlertState = z.enum(["open", "acknowledged", "resolved", "dismissed", "muted"]).meta({ id: "AlertState" });
export type AlertState = z.infer<typeof AlertState>;

/** Origin of an alert: changes of the history, or a finding of the watch. */
export const AlertKind = z.enum(["change", "finding"]).meta({ id: "AlertKind" });
export type AlertKind = z.infer<typeof AlertKind>;

/** One or more changes that came at the same time on the same hardware; or what the watch found wrong with a runner. */
export const Alert = z
  .object({
    id: idSchema("alert"),
    kind: AlertKind,
    state: AlertState,
    direction: ChangeDirection,
    scope: z.enum(["series", "subject", "machine"]).meta({
      description:
        "`machine`: three subjects or more moved at once on one fingerprint, so more likely the machine than your code; or a finding that is of no placement",
    }),
    summary: z.string(),
    fingerprintId: idSchema("fingerprint").nullable(),
    after: Instant.meta({ description: "It happened after this instant, and by `at`" }),
    at: Instant,
    changes: z.number().int(),
    subjects: z.number().int(),
    // A union, since the document's generator forgets that an extended schema may be null.
    leading: z.union([Change, z.null()]).meta({ description: "The largest of its changes; null of a finding" }),
    runnerId: idSchema("runner").nullable().meta({ description: "Whose finding it is; null of changes" }),
    finding: Finding.nullable().meta({ description: "As it was last seen; null of changes" }),
    note: z.string().nullable(),
    version: z.number().int(),
    createdAt: Instant,
    updatedAt: Instant,
  })
  .meta({ id: "Alert" });
export type Alert = z.infer<typeof Alert>;
export const AlertPage = pageOf(Alert, "Alert");

export const AlertDetail = Alert.extend({
  items: z.array(Change).meta({ description: `Its changes, the largest first, ${LIMITS.alertChanges} at most` }),
  neighbours: z.array(Alert).meta({
    description: "Other alerts on the same fingerprint whose changes may have come at the same time",
  }),
}).meta({ id: "AlertDetail" });
export type AlertDetail = z.infer<typeof AlertDetail>;

export const AlertQuery = PageQuery.extend({
  state: AlertState.optional().meta({ description: "Alerts in this state only" }),
  kind: AlertKind.optional().meta({ description: "Alerts of changes or of findings only" }),
  runner: idSchema("runner").optional().meta({ description: "Alerts of this runner only" }),
  direction: ChangeDirection.optional().meta({ description: "Only what became better, or worse" }),
  subject: z.string().max(256).optional().meta({ description: "Alerts of this subject only" }),
  fingerprint: idSchema("fingerprint").optional().meta({ description: "Alerts of this hardware only" }),
});
export type AlertQuery = z.infer<typeof AlertQuery>;

export const AlertAction = z.enum(["acknowledge", "dismiss", "mute", "resolve", "reopen"]);
export type AlertAction = z.infer<typeof AlertAction>;

export const AlertActionInput = z
  .strictObject({ note: z.string().max(LIMITS.noteLength).optional() })
  .meta({ id: "AlertActionInput" });
