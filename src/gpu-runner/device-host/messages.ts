import type { AxisValues } from "../../../kernels/kernel-spec.ts";
import type { Device, Hardware, KernelAnnouncement, OrtGpuBackend } from "../../protocol/fleet/hardware.ts";
import type { BenchmarkSpec } from "../../protocol/jobs/benchmark.ts";
import type { NodePlaces } from "../../protocol/jobs/calibration.ts";
import type { JobProgress } from "../../protocol/jobs/job.ts";
import type { KernelProgram } from "../../protocol/kernels/kernel-definition.ts";
import type { PoolState } from "../../protocol/fleet/memory.ts";
import type { NetworkLayouts } from "../../protocol/models/network-layout.ts";
import type { ProbedClaim } from "../../protocol/jobs/probe.ts";
import type { Problem } from "../../protocol/wire/problem.ts";
import type { Roofline } from "../../protocol/fleet/roofline.ts";
import type { Tensor } from "../../protocol/wire/tensor.ts";
import type { KernelTuningSpec } from "../../protocol/jobs/tuning.ts";
import type { BenchmarkMeasurement } from "../kernels/benchmark/benchmark-kernel.ts";
import type { ComputeOutcome, ComputeRequest } from "../kernels/compute-kernel.ts";
import type { KernelRequest, OpenedKernel } from "../kernels/open-kernels.ts";
import type { ThroughputSpec } from "../../protocol/jobs/throughput.ts";
import type { ThroughputMeasurement } from "../kernels/throughput/stream-kernel.ts";
import type { TuningMeasurement } from "../kernels/tuning/tune-kernel.ts";
import type { TunedNetwork, TuneNetworkRequest } from "../networks/tune-network.ts";
import type { TunerSettings } from "../kernels/tuning/tuner.ts";
import type { EnvironmentSource } from "../environments/environment-source.ts";
import type { ReplayRequest, ReplayTrace } from "../environments/replay-environment.ts";
import type { RollOutOutcome, RollOutRequest, RolloutTrial, TrialRequest } from "../rollout/roll-out.ts";
import type { UsedPipeline } from "../devices/gpu/pipeline-cache.ts";
import type { CallContext } from "../devices/progress.ts";
import type { EpisodeResults, RollOutElsewhere } from "../rollout/population.ts";
import type { ModelContent } from "../devices/ort/model-paths.ts";
import type { InferenceOutcome } from "../devices/ort/ort-backend.ts";
import type { TrainOutcome, TrainRequest } from "../training/train-call.ts";
import type { CompressOutcome, CompressRequest } from "../compression/variants/compress-call.ts";

/** What a device process computes by: an adapter through Dawn, the CPU, or one of ONNX Runtime's providers on a GPU. */
export type DeviceRole = "gpu" | "cpu" | OrtGpuBackend;

/** Description of a device process and what it offers. */
export interface DeviceDescription {
  readonly device: Device;
  readonly kernels: KernelAnnouncement[];
  /** Digest of each kernel's files, by name: another program has another digest. */
  readonly kernelDigests: Readonly<Record<string, string>>;
  /** Names of the adapters that this process could have opened; equal cards have equal names. */
  readonly adapters: readonly string[];
}

/** Every call that a runner makes to a device process. Trusted and local, so nothing is parsed. */
export interface DeviceCalls {
  /** Always the first call. The findings of an earlier life are trusted. */
  describe: { input: { deviceKey: string; known?: DeviceDescription }; output: DeviceDescription };
  warm: { input: { pipelines: readonly UsedPipeline[] }; output: null };
  benchmark: { input: { spec: BenchmarkSpec; axes: AxisValues }; output: BenchmarkMeasurement };
  stream: { input: { spec: ThroughputSpec }; output: ThroughputMeasurement };
  benchmarkProgram: { input: { spec: BenchmarkSpec; program: KernelProgram }; output: BenchmarkMeasurement };
  measureRoofline: { input: { budgetMs: number }; output: Roofline };
  /** Checks the claims about this device and its machine. */
  probe: { input: { claimed: Device; hardware: Hardware }; output: ProbedClaim[] };
  tune: { input: { spec: KernelTuningSpec; settings?: TunerSettings }; output: TuningMeasurement };
  /** Measures the layouts of a network in our kernels; for a process of its own. */
  tuneNetwork: { input: TuneNetworkRequest; output: TunedNetwork };
  /** Keeps a kernel ready under a name, with its inputs and checked, until it is closed or the process ends. */
  openKernel: { input: { kernelKey: string; spec: KernelRequest; axes: AxisValues }; output: OpenedKernel };
  /** Runs this many dispatches of an open kernel in one submission; answers when the device is done. */
  runKernel: { input: { kernelKey: string; dispatches: number }; output: null };
  closeKernel: { input: { kernelKey: string }; output: null };
  /** Computes a kernel once, on given inputs. */
  compute: { input: ComputeRequest; output: ComputeOutcome };
  /** Rolls a population out in an environment. */
  rollOut: { input: RollOutRequest; output: RollOutOutcome };
  /** The same; the population stays open for a next call with one of the same form. */
  rollOutKept: { input: RollOutRequest; output: RollOutOutcome };
  /** Speed of rolling out such a population, by attempts that grow until the time is spent. */
  tryRollOut: { input: TrialRequest; output: RolloutTrial };
  /** Trains a policy; reports each generation and saves checkpoints on the way. */
  train: { input: TrainRequest; output: TrainOutcome };
  /** Makes a smaller file of a network and measures it; for a process of its own. */
  compress: { input: CompressRequest; output: CompressOutcome };
  /** Steps an environment through given actions. */
  replay: { input: { environment: EnvironmentSource } & ReplayRequest; output: ReplayTrace };
  /** A kernel's f64 reference on the CPU. */
  reference: { input: { spec: BenchmarkSpec }; output: BenchmarkMeasurement };
  /**
   * `model` is the path of an ONNX file, or its content; it runs with one thread where `threads` is absent. Our kernels
   * measure a layout unless they are given one for the sizes, and return what they measured.
   */
  loadModel: {
    input: { modelKey: string; model: string | ModelContent; threads?: number; layouts?: NetworkLayouts };
    output: { loadMs: number; layouts?: NetworkLayouts };
  };
  unloadModel: { input: { modelKey: string }; output: null };
  /**
   * Growth in bytes of this process with the model loaded and each of these batches run, in turn. For a process of its
   * own, where nothing else grows.
   */
  measureMemory: {
    input: { model: ModelContent; batches: readonly (readonly Tensor[])[]; threads?: number };
    output: number[];
  };
  /**
   * Loads a model and answers, before anything trusts it; for a process of its own, too. Null of our own
   * kernels and of the CPU provider, where nodes have but one place.
   */
  tryModel: {
    input: { model: ModelContent; tensors: readonly Tensor[]; threads?: number };
    output: NodePlaces | null;
  };
  /** Cost of a start; for a process of its own, too. */
  measureStart: {
    input: { model: ModelContent; tensors: readonly Tensor[]; threads?: number };
    output: { loadMs: number; firstAnswerMs: number };
  };
  infer: { input: { modelKey: string; tensors: readonly Tensor[]; requestId: string }; output: InferenceOutcome };
  /** Keeps bytes on the device under a name, until they are dropped or the process ends. */
  putResident: { input: { key: string; bytes: Uint8Array }; output: null };
  readResident: { input: { key: string }; output: Uint8Array };
  dropResident: { input: { key: string }; output: null };
  /** The device's buffer pool; null where it has none. */
  readPool: { input: null; output: PoolState["counters"] };
  /** Releases buffers that wait for reuse; returns the bytes of those in use. */
  freeIdle: { input: null; output: number };
  /** Bytes of this process in memory. */
  readResidentSet: { input: null; output: number };
}

export type DeviceCallName = keyof DeviceCalls;

export type DeviceCall = {
  [Name in DeviceCallName]: { type: "call"; id: number; name: Name; input: DeviceCalls[Name]["input"] };
}[DeviceCallName];

/**
 * To the device process. An abort asks a call to end early; it is answered all the same. An answer is that to a
 * question.
 */
export type DeviceRequest =
  | DeviceCall
  | { type: "abort"; id: number }
  | { type: "answer"; question: number; results: EpisodeResults }
  | { type: "refusal"; question: number; problem: Problem };

/**
 * From the device process: any number of progress messages, checkpoints and questions, then one result or problem for
 * each call.
 */
export type DeviceReply =
  | { type: "used"; pipeline: UsedPipeline }
  | { type: "result"; id: number; output: DeviceCalls[DeviceCallName]["output"] }
  | { type: "problem"; id: number; problem: Problem }
  | { type: "progress"; id: number; progress: JobProgress }
  | { type: "checkpoint"; id: number; file: Uint8Array<ArrayBuffer> }
  | { type: "rollOut"; id: number; question: number; request: Parameters<RollOutElsewhere>[0] };

/** Context of a call, which may ask its caller for rollouts. */
export interface DeviceCallContext extends CallContext {
  readonly onRollOut: RollOutElsewhere;
}

/** Handler of each call in the device process. */
export type DeviceHandlers = {
  [Name in DeviceCallName]: (
    input: DeviceCalls[Name]["input"],
    context: DeviceCallContext,
  ) => Promise<DeviceCalls[Name]["output"]>;
};
