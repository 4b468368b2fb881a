import { loadavg } from "node:os";
import type { Logger } from "pino";
import type { Device, Hardware } from "../../protocol/fleet/hardware.ts";
import type { RunSamples } from "../../protocol/history/run.ts";
import type { Environment } from "../../protocol/jobs/job-fields.ts";
import type { JobProgress, JobResult, JobSpec } from "../../protocol/jobs/job.ts";
import type { KernelProgram } from "../../protocol/kernels/kernel-definition.ts";
import type { EdgeWork, PlacedModel } from "../../protocol/link.ts";
import type { OfferedEnvironment } from "../../protocol/policies/environment-definition.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { VERSION } from "../../protocol/wire/release.ts";
import type { SpanScope } from "../../telemetry/span.ts";
import type { JobArtifacts } from "../link/artifacts.ts";
import type { EdgeProbe } from "../link/edge-probe.ts";
import type { LinkProbe } from "../link/link-channel.ts";
import type { ResidencyManager } from "../memory/residency-manager.ts";
import type { RooflineStore } from "../memory/roofline-store.ts";
import type { TuningCache } from "../memory/tuning-cache.ts";
import type { DeviceFleet } from "../serving/device-fleet.ts";
import type { ModelLoader } from "../serving/model-loader.ts";
import type { BackendChoices } from "./choose-backend.ts";
import type { EdgePlace, EdgeSystem } from "./validation/open-edge-system.ts";

/** What a result is stored with, as it is at the moment of asking. */
export function describeEnvironment(device: Device, otherJobs: number): Environment {
  return {
    deviceKey: device.key,
    deviceName: device.name,
    software: device.software,
    fingerprint: device.fingerprint,
    runnerVersion: VERSION,
    loadAverage: loadavg()[0] ?? 0,
    otherJobs,
  };
}

/** A problem that a device has is an answer, too; the end of the work, which the signal tells, is none. */
export async function orProblem<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value | ProblemError> {
  try {
    return await promise;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ProblemError) return error;
    throw error;
  }
}

/** What a workload works with. */
export interface WorkloadContext {
  /** What the runner says of its machine. */
  readonly hardware: Hardware;
  readonly fleet: DeviceFleet;
  readonly models: ModelLoader;
  readonly probe: LinkProbe;
  readonly edgeProbe: EdgeProbe;
  /** Puts load on a placement of this runner through the edge. */
  readonly openEdge: (place: EdgePlace) => EdgeSystem;
  readonly residency: Pick<ResidencyManager, "useOnDevice" | "read" | "add" | "report">;
  readonly rooflines: RooflineStore;
  readonly tunings: TuningCache;
  readonly backends: BackendChoices;
  /** Whether submitted kernels may run here. */
  readonly userKernels: boolean;
  readonly model: PlacedModel | null;
  readonly program: KernelProgram | null;
  /** The submitted environment of an evaluation or training; see `environmentSourceOf`. */
  readonly environment: OfferedEnvironment | null;
  /** What a calibration also measures at the edge. */
  readonly edge: EdgeWork | null;
  /** Files that the job leaves beside its result, or that an earlier attempt left. */
  readonly artifacts: JobArtifacts;
  readonly otherJobs: number;
  /** The span that it runs within; null where it is not traced. */
  readonly scope: SpanScope | null;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: JobProgress) => void;
  readonly logger: Pick<Logger, "error">;
}

export interface WorkloadResult {
  readonly result: JobResult;
  readonly deviceKey: string;
  /** The trace that the job asked for, as JSON. */
  readonly traceText?: string | null;
  /** What was timed, as JSON (RunSamples). */
  readonly samplesText?: string | null;
}

/** A kind of job as a runner executes it. Throws ProblemError where it cannot be done. */
export type Workload<Spec extends JobSpec> = (spec: Spec, context: WorkloadContext) => Promise<WorkloadResult>;

type Timed = Pick<RunSamples["measurements"][number], "metric" | "clock"> & {
  readonly valuesMs: ArrayLike<number> | null;
};

/** What a kernel's run timed, as JSON that travels beside its result; null where that would be over the limit. */
export function writeSamples(subject: string, timed: readonly Timed[]): string | null {
  const measurements = timed.flatMap(({ metric, clock, valuesMs }) =>
    valuesMs === null ? [] : [{ subject, metric, unit: "ms", clock, values: Array.from(valuesMs) }],
  );
  const samples: RunSamples = { measurements };
  const text = JSON.stringify(samples);
  return Buffer.byteLength(text) > LIMITS.samplesBytes ? null : text;
}
