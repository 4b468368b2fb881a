import { modelBackendOf } from "../../../protocol/fleet/hardware.ts";
import { DEFAULT_CONFIGURATION } from "../../../protocol/fleet/serving.ts";
import type { JobSubject } from "../../../protocol/jobs/job-fields.ts";
import type { ValidationSpec } from "../../../protocol/jobs/validation.ts";
import { FIRST_VARIANT } from "../../../protocol/models/model.ts";
import type { Scenario } from "../../../protocol/models/scenario.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import type { Workload, WorkloadContext, WorkloadResult } from "../kind.ts";
import { describeEnvironment } from "../steps/describe-run.ts";
import { concludeValidation } from "./judge-requirements.ts";
import type { EdgeSystem } from "./open-edge-system.ts";
import { type KernelSubject, openKernelSystem } from "./open-kernel-system.ts";
import { type ModelSystem, openModelSystem } from "./open-model-system.ts";
import { runScenarios, type SystemFor } from "./run-scenarios.ts";
import type { SystemUnderTest } from "./system-under-test.ts";
import { watchResidentSet } from "./watch-resident-set.ts";

const SIMD = "cpu-simd";

/** Validates a kernel on the device that has it, by `endMs` of the monotonic clock. */
async function validateKernel(
  spec: ValidationSpec,
  subject: KernelSubject,
  endMs: number,
  context: WorkloadContext,
): Promise<WorkloadResult> {
  const { fleet, otherJobs, signal } = context;
  const system = await openKernelSystem(context, subject, spec.deviceKey ?? null);
  try {
    const { deviceKey, variant, startup, gpuBytes } = system;
    const device = fleet.find(deviceKey);
    const environment = describeEnvironment(device.host.device, otherJobs);
    const watched = await watchResidentSet(device.host, signal);
    const run = () => runScenarios(spec, async () => system, endMs, context);
    const runs = await fleet.use(device, run).finally(watched.stop);
    const { peakBytes, grownBytes } = await watched.stop();
    const isSimd = variant === SIMD;
    return concludeValidation(spec, runs, {
      place: { deviceKey, backend: isSimd ? SIMD : "wgsl", variant, placementId: null, configuration: null },
      startup,
      memory: { hostPeakBytes: peakBytes, hostGrownBytes: grownBytes, gpuPeakBytes: isSimd ? 0 : gpuBytes },
      artifactBytes: null,
      fidelity: null,
      environment,
    });
  } finally {
    await system.close();
  }
}

/** Budget of a request without urgency. */
const PATIENT_MS = 60_000;
/** Calm traffic for the edge before a server's load: it halves a request's weight after three seconds. */
const CALM_QUERIES = 128;
const CALM_MS = 2_000;

/** Validates a model on a device as it is served there, by `endMs` of the monotonic clock. */
async function validateModel(
  spec: ValidationSpec,
  subject: Extract<JobSubject, { kind: "model" }>,
  endMs: number,
  context: WorkloadContext,
): Promise<WorkloadResult> {
  const { fleet, model, otherJobs, signal } = context;
  if (model === null) throw new ProblemError("backend-failed", "The offer did not name the model to validate.");
  const { variant = FIRST_VARIANT } = subject;
  const { configuration = DEFAULT_CONFIGURATION, seed, fidelity = null, placementId = null } = spec;
  const device = spec.deviceKey === undefined ? fleet.cpu : fleet.find(spec.deviceKey);
  const { key: deviceKey, kind } = device.host.device;
  const backend = modelBackendOf(device.host.device);
  if (backend === undefined || backend !== (subject.backend ?? backend)) {
    throw new ProblemError("backend-failed", `${deviceKey} serves no models by ${subject.backend ?? "any backend"}.`);
  }
  return fleet.use(device, async () => {
    const environment = describeEnvironment(device.host.device, otherJobs);
    const largestQuery = Math.max(...spec.scenarios.map(largestQueryOf));
    const system = await openModelSystem({ device, model, variant, configuration }, { seed, largestQuery }, context);
    let edge: EdgeSystem | null = null;
    try {
      edge = openEdgePath(spec, subject.model, system, context);
      const startup = await system.measureStart(endMs - performance.now());
      const watched = await watchResidentSet(device.host, signal);
      const runs = await runScenarios(spec, prepareSystem(system, edge), endMs, context).finally(watched.stop);
      const { peakBytes, grownBytes } = await watched.stop();
      return concludeValidation(spec, runs, {
        place: { deviceKey, backend, variant, placementId, configuration },
        startup,
        // ONNX Runtime does not report its memory on a GPU.
        memory: { hostPeakBytes: peakBytes, hostGrownBytes: grownBytes, gpuPeakBytes: kind === "cpu" ? 0 : null },
        artifactBytes: model.variants.find(({ name }) => name === variant)?.sizeBytes ?? null,
        fidelity,
        environment,
      });
    } finally {
      edge?.close();
      await system.close();
    }
  });
}

function openEdgePath(
  { paths, placementId, configuration }: ValidationSpec,
  model: string,
  { inputs, rows }: ModelSystem,
  { openEdge }: WorkloadContext,
): EdgeSystem | null {
  if (!paths.includes("edge")) return null;
  if (placementId === undefined) throw new ProblemError("backend-failed", "The job named no placement for the edge.");
  return openEdge({ model, placementId, inputs, rows, maxInFlight: configuration?.maxInFlight ?? null });
}

/**
 * Prepares a system for a scenario.
 * A server's requests arrive regardless, expire at the bound, and ask for its percentile as their confidence; others
 * wait their turn.
 */
function prepareSystem(system: ModelSystem, edge: EdgeSystem | null): SystemFor {
  return async (scenario, path) => {
    const on = path === "edge" && edge !== null ? edge : system;
    if (scenario.kind !== "server") return on.within(PATIENT_MS);
    if (on === edge) await calm(on.within(PATIENT_MS));
    const confidence = Math.min(0.999, Math.max(0.5, scenario.percentile));
    return on.within(scenario.boundMs, { confidence, beyondCap: "comes" });
  };
}

/** Calms the edge's predictions, which reflect the recent load, with requests that wait for no other. */
async function calm(system: SystemUnderTest): Promise<void> {
  const startMs = performance.now();
  for (let query = 0; query < CALM_QUERIES && performance.now() - startMs < CALM_MS; query++) {
    // A failure here recurs in the measured load.
    await system.query(1).catch(() => {});
  }
}

function largestQueryOf(scenario: Scenario): number {
  if (scenario.kind === "offline") return LIMITS.batchRows;
  return scenario.kind === "multiStream" ? scenario.samplesPerQuery : 1;
}

/** Time after the limit in which drivers and devices must let go. */
const GRACE_MS = 5_000;

/**
 * Proves a model or kernel, runs the requested scenarios on it, and judges the measurements.
 * Throws `backend-failed` where it answers wrongly, and where the scenarios do not end in time.
 */
export const runValidation: Workload<ValidationSpec> = async (spec, outer) => {
  const { subject, timeoutMs } = spec;
  const endMs = performance.now() + timeoutMs;
  const late = new AbortController();
  const reason = new ProblemError("backend-failed", `The validation took longer than ${timeoutMs} ms.`);
  const timer = setTimeout(() => late.abort(reason), timeoutMs + GRACE_MS);
  const context = { ...outer, signal: AbortSignal.any([outer.signal, late.signal]) };
  try {
    if (subject.kind === "kernel") return await validateKernel(spec, subject, endMs, context);
    return await validateModel(spec, subject, endMs, context);
  } finally {
    clearTimeout(timer);
  }
};
