import type { Logger } from "pino";
import type { JobProgress, JobResult, JobSpec } from "../../protocol/job.ts";
import type { KernelProgram } from "../../protocol/kernel-definition.ts";
import type { EdgeWork, PlacedModel } from "../../protocol/link.ts";
import type { DeviceFleet } from "../device-fleet.ts";
import type { EdgeProbe } from "../edge-probe.ts";
import type { LinkProbe } from "../link-probe.ts";
import type { RooflineStore } from "../memory/roofline-store.ts";
import type { TuningCache } from "../memory/tuning-cache.ts";
import type { ModelLoader } from "../serving/model-loader.ts";

/** What a workload works with. */
export interface WorkloadContext {
  readonly fleet: DeviceFleet;
  readonly models: ModelLoader;
  readonly probe: LinkProbe;
  readonly edgeProbe: EdgeProbe;
  readonly rooflines: RooflineStore;
  readonly tunings: TuningCache;
  /** Whether submitted kernels may run here. */
  readonly userKernels: boolean;
  readonly model: PlacedModel | null;
  readonly program: KernelProgram | null;
  /** What a calibration also measures at the edge. */
  readonly edge: EdgeWork | null;
  readonly otherJobs: number;
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
