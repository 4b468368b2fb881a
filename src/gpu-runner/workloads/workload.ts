import type { Logger } from "pino";
import type { OfferedEnvironment } from "../../protocol/environment-definition.ts";
import type { Hardware } from "../../protocol/hardware.ts";
import type { JobProgress, JobResult, JobSpec } from "../../protocol/job.ts";
import type { KernelProgram } from "../../protocol/kernel-definition.ts";
import type { EdgeWork, PlacedModel } from "../../protocol/link.ts";
import type { SpanScope } from "../../telemetry/span.ts";
import type { DeviceFleet } from "../device-fleet.ts";
import type { EdgeProbe } from "../edge-probe.ts";
import type { JobArtifacts } from "../job-artifacts.ts";
import type { LinkProbe } from "../link-probe.ts";
import type { ResidencyManager } from "../memory/residency-manager.ts";
import type { RooflineStore } from "../memory/roofline-store.ts";
import type { TuningCache } from "../memory/tuning-cache.ts";
import type { BackendChoices } from "../rollout/choose-backend.ts";
import type { EdgePlace, EdgeSystem } from "../validation/open-edge-system.ts";
import type { ModelLoader } from "../serving/model-loader.ts";

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
