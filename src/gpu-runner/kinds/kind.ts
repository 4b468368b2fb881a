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

/** Executes a job of one kind. Throws ProblemError where it cannot be done. */
export type Workload<Spec extends JobSpec> = (spec: Spec, context: WorkloadContext) => Promise<WorkloadResult>;

type ResultOf<Spec extends JobSpec> = Extract<JobResult, { kind: Spec["kind"] }>;

/** A kind of job at the runner. */
export interface JobKindModule<Spec extends JobSpec> {
  readonly run: Workload<Spec>;
  /** How the result's kernel uses its device; null, or absent, where the result does not say. */
  readonly kernelHealth?: (result: ResultOf<Spec>, at: string) => KernelHealth | null;
  /** Places of the offered model that were measured. */
  readonly placements?: (result: ResultOf<Spec>) => readonly CalibratedPlacement[];
}
