import type { DiagnosisCheck, Finding, HealthReport } from "../../../protocol/fleet/health.ts";
import type { Problem } from "../../../protocol/wire/problem.ts";
import type { Expectation } from "./expectation.ts";
import type { MemorySample } from "./memory-sample.ts";

/** Advice on each problem, in terms of the existing settings. */
export const ADVICE = {
  throttling:
    "Cool the machine, or take load from it: a lower `maxRows` or `maxInFlight` of its placements, or a placement rule (`PUT /v1/models/{id}/placement`) that leaves this runner out.",
  contention:
    "Stop or move what else runs on the machine, give the runner cores of its own (`taskset`, `CPUWeight=` of systemd), or leave this runner out by the model's placement rule.",
  slowBackend:
    "Restart the runner, then validate anew. If it stays slow, serve by another backend (`MILLRACE_ORT_WEBGPU`, `MILLRACE_ORT_CUDA`, `MILLRACE_GPU`) or set the placement's `threads`.",
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
    "Read the runner's log for why the device's process ends; set `MILLRACE_GPU` to another adapter or `none`, or its provider off, such as `MILLRACE_ORT_CUDA=off`.",
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

/** Line of a diagnosis, about the whole runner by default. Only a failed check has advice. */
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

/** Shares of all cores used by the runner and by other processes. */
export interface HostShares {
  readonly own: number;
  readonly others: number;
}

/**
 * Shares of the cores. Where the system does not report the runner's share, its devices' busy time is used, one core
 * each.
 */
export function hostSharesOf({ host, devices, jobShare }: HealthReport): HostShares {
  const busyCores = devices.reduce((sum, { busyShare }) => sum + busyShare, 0);
  const own = host.ownShare ?? Math.min(host.busyShare, Math.max(jobShare, busyCores / host.logicalCores));
  return { own, others: Math.max(0, host.busyShare - own) };
}

/** Formats a share, for example `35 %`. */
export function toPercent(share: number): string {
  return `${Math.round(100 * share)} %`;
}

/** Context of the report under judgement. */
export interface WatchContext {
  readonly expectations: readonly Expectation[];
  /** Last reports, oldest first. */
  readonly reports: readonly HealthReport[];
  /** Samples of the runner's present process, oldest first. */
  readonly memory: readonly MemorySample[];
  /** Findings open before this report. */
  readonly open: readonly OpenFinding[];
}

/** Finding with the key of its subject. */
export interface OpenFinding {
  readonly key: string;
  readonly finding: Finding;
}

/** Health of a runner by its reply just now or by its last report; a problem where there is neither. */
export type RunnerHealth =
  | { readonly ok: false; readonly problem: Problem }
  | {
      readonly ok: true;
      readonly online: boolean;
      /** Whether the runner replied just now. */
      readonly fresh: boolean;
      readonly report: HealthReport;
      readonly context: WatchContext;
    };

/** Hysteresis: a finding opens at the stricter level and is held at the laxer one, so that none flickers at a limit. */
export type WatchLevel = "open" | "hold";

/** Evidence for a finding in one report. `key` names its subject: each key has one finding. */
export interface Evidence extends Omit<Finding, "runnerId" | "since" | "at"> {
  readonly key: string;
}

/** Judges one report. */
export type WatchRule = (report: HealthReport, context: WatchContext, level: WatchLevel) => readonly Evidence[];

/** Empty fields of a finding without a placement. */
export const OF_NO_PLACEMENT = { placementId: null, subject: null, cause: null } as const;
