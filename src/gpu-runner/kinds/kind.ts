import type { Logger } from "pino";
import type { KernelHealth } from "../../protocol/fleet/health.ts";
import type { Hardware } from "../../protocol/fleet/hardware.ts";
import type { CalibratedPlacement } from "../../protocol/jobs/calibration.ts";
import type { JobProgress, JobResult, JobSpec } from "../../protocol/jobs/job.ts";
import type { KernelProgram } from "../../protocol/kernels/kernel-definition.ts";
import type { EdgeWork, PlacedModel } from "../../protocol/link.ts";
import type { OfferedEnvironment } from "../../protocol/policies/environment-definition.ts";
import type { SpanScope } from "../../telemetry/span.ts";
import type { JobArtifacts } from "../link/artifacts.ts";
import type { EdgeProbe } from "../link/edge-probe.ts";
import type { LinkProbe } from "../link/link-channel.ts";
import type { ResidencyManager } from "../memory/residency-manager.ts";
import type { RooflineStore } from "../memory/roofline-store.ts";
import type { TuningCache } from "../memory/tuning-cache.ts";
import type { DeviceFleet } from "../serving/device-fleet.ts";
import type { ModelLoader } from "../serving/model-loader.ts";
import type { BackendChoices } from "./steps/choose-backend.ts";
import type { EdgePlace, EdgeSystem } from "./validation/open-edge-system.ts";

/** Context of a running workload. */
export interface WorkloadContext {
  /** Hardware report of the runner's machine. */
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
  /** A calibration's work at the edge. */
  readonly edge: EdgeWork | null;
  /** Files stored beside the job's result, including those of an earlier attempt. */
  readonly artifacts: JobArtifacts;
  readonly otherJobs: number;
  /** Enclosing trace span; null where the job is not traced. */
  readonly scope: SpanScope | null;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: JobProgress) => void;
  readonly logger: Pick<Logger, "error">;
}

export interface WorkloadResult {
  readonly result: JobResult;
  readonly deviceKey: string;
  /** Requested trace of the job, as JSON. */
  readonly traceText?: string | null;
  /** Timed samples, as JSON (RunSamples). */
  readonly samplesText?: string | null;
}

/** Executes a job of one kind. Throws ProblemError on failure. */
export type Workload<Spec extends JobSpec> = (spec: Spec, context: WorkloadContext) => Promise<WorkloadResult>;

type ResultOf<Spec extends JobSpec> = Extract<JobResult, { kind: Spec["kind"] }>;

/** Job kind at the runner. */
export interface JobKindModule<Spec extends JobSpec> {
  readonly run: Workload<Spec>;
  /** Health of the result's kernel on its device; null or absent where the result has none. */
  readonly kernelHealth?: (result: ResultOf<Spec>, at: string) => KernelHealth | null;
  /** Measured places of the offered model. */
  readonly placements?: (result: ResultOf<Spec>) => readonly CalibratedPlacement[];
}
