import { z } from "zod";
import { Capabilities } from "./hardware.ts";
import { idSchema } from "../wire/id.ts";
import { Instant, Labels, Name, pageOf } from "../wire/page.ts";
import { ProfileFit } from "./profile.ts";

export const RunnerState = z.enum(["registered", "online", "draining", "offline"]).meta({ id: "RunnerState" });
export type RunnerState = z.infer<typeof RunnerState>;

/** Why a runner is given nothing, and until when: it flaps, or fails job after job. */
export const RunnerQuarantine = z.object({ until: Instant, reason: z.string() }).meta({ id: "RunnerQuarantine" });
export type RunnerQuarantine = z.infer<typeof RunnerQuarantine>;

/** Body by which a new runner trades its one-time token for a credential. */
export const RegistrationInput = z
  .strictObject({
    token: z.string().min(1).max(256),
    name: Name,
    labels: Labels.default({}),
    /** Left out where it is false: an older edge does not know it. */
    ephemeral: z.boolean().optional().meta({ description: "Whether it removes itself when it has done its work" }),
  })
  .meta({ id: "RegistrationInput" });
export type RegistrationInput = z.infer<typeof RegistrationInput>;

/** The runner's id and credential; the edge keeps a hash only, so this is the one time it is shown. */
export const Registration = z
  .object({ runnerId: idSchema("runner"), credential: z.string(), linkUrl: z.string() })
  .meta({ id: "Registration" });
export type Registration = z.infer<typeof Registration>;

export const Runner = z
  .object({
    id: idSchema("runner"),
    name: Name,
    state: RunnerState,
    shared: z.boolean().meta({ description: "Whether it works for all projects" }),
    owned: z.boolean().meta({ description: "Whether it is of the caller's project, who may drain and remove it" }),
    /** False, too, from an older edge. */
    ephemeral: z.boolean().default(false).meta({ description: "Whether it removes itself when it has done its work" }),
    /** Null, too, from an older edge. */
    quarantine: RunnerQuarantine.nullable().default(null),
    labels: Labels,
    capabilities: Capabilities.nullable(),
    profiles: z.array(ProfileFit),
    version: z.number().int(),
    createdAt: Instant,
    connectedAt: Instant.nullable(),
    lastSeenAt: Instant.nullable(),
  })
  .meta({ id: "Runner" });
export type Runner = z.infer<typeof Runner>;
export const RunnerPage = pageOf(Runner, "Runner");

/** Batch sizes of one placement, as its calibration measured them. */
export const MeasuredBatches = z
  .object({
    deviceKey: z.string(),
    placementId: idSchema("placement"),
    subject: z.string().meta({ description: "`lenet5@1 int8 on cpu by ort-cpu`" }),
    batches: z.array(
      z.object({
        rows: z.number().int(),
        medianMs: z.number().meta({ description: "Service of the whole batch" }),
        rowsPerSecond: z.number(),
        memoryBytes: z.number().nullable().meta({
          description: "With the model, by the line fitted over what was measured; null where nothing was",
        }),
      }),
    ),
  })
  .meta({ id: "MeasuredBatches" });
export type MeasuredBatches = z.infer<typeof MeasuredBatches>;

/** A runner in depth. */
export const RunnerDetail = Runner.extend({
  batches: z
    .array(MeasuredBatches)
    .optional()
    .meta({ description: "Of the caller's models, by device; absent from an older edge" }),
}).meta({ id: "RunnerDetail" });
export type RunnerDetail = z.infer<typeof RunnerDetail>;

/** A new credential; the old one works until the runner connects with the new one, or is rotated again. */
export const RotatedCredential = z
  .object({ runnerId: idSchema("runner"), credential: z.string() })
  .meta({ id: "RotatedCredential" });
