import type { DiagnosisCheck, Finding, HealthReport } from "../../../protocol/fleet/health.ts";
import type { Problem } from "../../../protocol/wire/problem.ts";
import type { Expectation } from "./expectation.ts";
import type { MemorySample } from "./memory-sample.ts";

/** What to do about what, by the settings that there are. */
export const ADVICE = {
  throttling:
    "Cool the machine, or take load from it: a lower `maxRows` or `maxInFlight` of its placements, or a placement rule (`PUT /v1/models/{id}/placement`) that leaves this runner out.",
  contention:
    "Stop or move what else runs on the machine, give the runner cores of its own (`taskset`, `CPUWeight=` of systemd), or leave this runner out by the model's placement rule.",
  slowBackend:
    "Restart the runner, then validate anew. If it stays slow, serve by another backend (`MILLRACE_ORT_WEBGPU`, `MILLRACE_GPU`) or set the placement's `threads`.",
  drift:
    "Validate the placement anew (`POST /v1/jobs`, kind `validation`): if it is still as slow, compare its history with the last change of driver, Node or settings, and set its `threads` again.",
  batches: "Raise `maxRows` of the placement, so that more of what waits is computed at once.",
  hostBound:
    "Give the host more room: fewer other processes, fewer rows a request to encode, or `MILLRACE_DIRECT` for clients that are near.",
  synchronisation:
    "Let more be under way at once: raise `maxInFlight` and `maxRows` of the placement; of kernels, submit several before waiting (throughput jobs, `inFlight`).",
  transfer:
    "Move less: larger batches by `maxRows`, a variant of smaller inputs, or a backend on the CPU for what computes so little.",
  utilisation: "Raise `maxRows` and `maxInFlight` of the placement, or give it more `threads`, one step at a time.",
  memory:
    "Restart the runner to win time. Then lower `MILLRACE_HOST_MEMORY` and `MILLRACE_GPU_MEMORY`, and report the model or kernel that was served while it grew.",
  errors:
    "Read the runner's log (`MILLRACE_LOG_LEVEL=debug`); validate the placement anew, and take out by its placement rule what keeps failing.",
  restarts:
    "Read the runner's log for why the device's process ends; set `MILLRACE_GPU` to another adapter or `none`, or `MILLRACE_ORT_WEBGPU=off`.",
  queueing:
    "Add a runner or widen the model's placement rule; raise `maxRows` to compute more at once, or lower `maxInFlight` to refuse sooner. Give what is urgent a higher `priority` and an honest `budgetMs`.",
  pageOuts:
    "Raise `MILLRACE_HOST_MEMORY` (or `MILLRACE_GPU_MEMORY`, `MILLRACE_DISK_SPACE`), or place fewer models here.",
  occupancy:
    "Tune the kernel on this device (`POST /v1/jobs`, kind `tuning`): another workgroup size lets more of it be resident.",
  bandwidth:
    "Tune the kernel on this device (`POST /v1/jobs`, kind `tuning`), or give it larger shapes: it uses little of the memory's bandwidth and of its arithmetic.",
  p99: "Lower `maxRows`, or `maxInFlight`, of the placement, raise the requests' `priority`, or search a configuration that meets it (`POST /v1/jobs`, kind `optimisation`).",
} as const;

/** A line of a diagnosis, of the whole runner unless it says otherwise. Advice is for what failed alone. */
export function makeCheck(
  check: DiagnosisCheck["check"],
  fields: Pick<DiagnosisCheck, "measured" | "limit" | "unit" | "outcome" | "detail"> & {
    readonly deviceKey?: string | null;
    readonly placementId?: string | null;
    readonly advice: string;
  },
): DiagnosisCheck {
  const { deviceKey = null, placementId = null, advice, ...rest } = fields;
  return { check, deviceKey, placementId, ...rest, advice: rest.outcome === "fail" ? advice : null };
}

/** Of all cores: what the runner took, and what other processes took. */
export interface HostShares {
  readonly own: number;
  readonly others: number;
}

/** Where the system does not tell what the runner took, its devices' busy time stands for it, one core each. */
export function hostSharesOf({ host, devices, jobShare }: HealthReport): HostShares {
  const busyCores = devices.reduce((sum, { busyShare }) => sum + busyShare, 0);
  const own = host.ownShare ?? Math.min(host.busyShare, Math.max(jobShare, busyCores / host.logicalCores));
  return { own, others: Math.max(0, host.busyShare - own) };
}

/** `35 %` */
export function toPercent(share: number): string {
  return `${Math.round(100 * share)} %`;
}

/** What is known of a runner beside the report that is judged. */
export interface WatchContext {
  readonly expectations: readonly Expectation[];
  /** The last reports, rising in time. */
  readonly reports: readonly HealthReport[];
  /** Of the runner's present process, rising in time. */
  readonly memory: readonly MemorySample[];
  /** What was found before. */
  readonly open: readonly OpenFinding[];
}

/** A finding with what it is about. */
export interface OpenFinding {
  readonly key: string;
  readonly finding: Finding;
}

/** How a runner is, by its answer just now or by the last report that it sent; a problem where there is neither. */
export type RunnerHealth =
  | { readonly ok: false; readonly problem: Problem }
  | {
      readonly ok: true;
      readonly online: boolean;
      /** Whether it answered just now. */
      readonly fresh: boolean;
      readonly report: HealthReport;
      readonly context: WatchContext;
    };

/** A finding opens by the stricter level and is held by the laxer one, so that none flickers about a limit. */
export type WatchLevel = "open" | "hold";

/** What speaks for a finding in one report. `key` tells what it is about: there is one finding of each. */
export interface Evidence extends Omit<Finding, "runnerId" | "since" | "at"> {
  readonly key: string;
}

/** Judges one report. */
export type WatchRule = (report: HealthReport, context: WatchContext, level: WatchLevel) => readonly Evidence[];

/** What a finding of no placement leaves empty. */
export const OF_NO_PLACEMENT = { placementId: null, subject: null, cause: null } as const;
