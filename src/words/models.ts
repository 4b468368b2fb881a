import type { Backend } from "../protocol/fleet/hardware.ts";
import type { InferReply, LatencySplit } from "../protocol/inference/inference.ts";
import {
  type BackendSupport,
  FIRST_VARIANT,
  type LatestCalibration,
  type ModelSummary,
  type ModelVariant,
  type ModelVersion,
  type Placement,
  type TensorSpec,
} from "../protocol/models/model.ts";
import type { MeasuredFidelity, Recipe } from "../protocol/models/variant.ts";
import { formatNumber, formatShare, type Numbers } from "./numbers.ts";
import { markSoftware } from "./runners.ts";

/** Inputs or outputs of a model: `image: float32 n × 1 × 28 × 28`. */
export function describeTensors(specs: readonly TensorSpec[]): string {
  const sizes = (shape: readonly number[]) => shape.map((size) => (size === -1 ? "n" : size)).join(" × ");
  return specs.map(({ name, dtype, shape }) => `${name}: ${dtype} ${sizes(shape)}`).join(", ");
}

/** A version of a model: its tensors, its graph, its data and its policy. */
export function describeVersion(
  { inputs, outputs, summary, backends, data, card }: ModelVersion,
  numbers: Numbers,
): (readonly [string, string])[] {
  return [
    ["takes", describeTensors(inputs)],
    ["gives", describeTensors(outputs)],
    ...(summary === null ? [] : describeGraph(summary, numbers)),
    ...describeBackends(backends),
    ...(data === null ? [] : [["data", `${data.rows} rows, by ${data.metric}`] as const]),
    ...(card === null ? [] : [["policy of", card.environment] as const]),
  ];
}

/** Backends that may serve a version, then each of the others with its reason. */
export function describeBackends(backends: readonly BackendSupport[]): (readonly [string, string])[] {
  if (backends.length === 0) return [];
  const able = backends.filter(({ reason }) => reason === null).map(({ backend }) => backend);
  const unable = backends.filter(({ reason }) => reason !== null);
  return [
    ["backends", able.join(", ")],
    ...unable.map(({ backend, reason }) => [`not ${backend}`, `${reason}`] as const),
  ];
}

function describeGraph(summary: ModelSummary, { number, bytes }: Numbers): (readonly [string, string])[] {
  const { opset, nodes, operators, parameters, quantisedParameters, weightBytes } = summary;
  const orUnknown = (value: number | null, format: (value: number) => string) =>
    value === null ? "the file does not say" : format(value);
  // The most frequent first.
  const counts = Object.entries(operators).toSorted(([, a], [, b]) => b - a);
  const quantised = quantisedParameters > 0 ? ` (${number(quantisedParameters)} quantised)` : "";
  return [
    ["parameters", `${number(parameters)}${quantised}`],
    ["weights", bytes(weightBytes)],
    ["multiply-adds a row", orUnknown(summary.multiplyAddsPerRow, number)],
    ["flops a row", orUnknown(summary.flopsPerRow, number)],
    ["activations a row", orUnknown(summary.activationBytesPerRow, bytes)],
    ["opset", String(opset)],
    [`operators (${nodes} nodes)`, counts.map(([operator, count]) => `${count} ${operator}`).join(", ")],
  ];
}

/** Place that computed an answer. */
export function namePlace({
  deviceKey,
  runnerId,
  backend,
  software,
}: Pick<Placement, "deviceKey" | "runnerId" | "backend" | "software">): string {
  const place = backend === "edge-wasm" ? "the edge itself" : `${deviceKey} of ${runnerId}`;
  return markSoftware(`${place} by ${backend}`, software);
}

/** The fidelity of a variant, and what it rests on. */
export function describeFidelity(
  { name, fidelity, measured }: Pick<ModelVariant, "name" | "fidelity" | "measured">,
  placements: readonly Pick<Placement, "variant" | "fidelity">[],
): { readonly share: string; readonly basis: string } {
  if (name === FIRST_VARIANT) return { share: "–", basis: "what others are held against" };
  if (measured !== null) return { share: formatShare(measured.value), basis: describeBasis(measured) };
  if (fidelity !== null) return { share: formatShare(fidelity), basis: "as its uploader says" };
  const found = placements.flatMap((placement) =>
    placement.variant === name && placement.fidelity !== null ? [placement.fidelity] : [],
  );
  if (found.length === 0) return { share: "–", basis: "not measured yet" };
  return { share: formatShare(Math.min(...found)), basis: "the least that calibrations found" };
}

/** Evidence behind a measured fidelity. */
export function describeBasis(measured: MeasuredFidelity): string {
  if (measured.basis === "metric") {
    const { metric, variant, parent, rows } = measured;
    return `${metric} ${formatNumber(variant)} beside ${formatNumber(parent)}, on ${formatNumber(rows)} rows of its data`;
  }
  const { inputs, relativeError } = measured;
  return `agreement with ${FIRST_VARIANT} on ${formatNumber(inputs)} random inputs, relative error ${formatNumber(relativeError)}`;
}

/** A recipe in words: what it does to the version's own file. */
export function describeRecipe(recipe: Recipe): string {
  switch (recipe.method) {
    case "fp16":
      return "weights as floats of 16 bits";
    case "int8":
      if (recipe.activations === "dynamic") return "weights of 8 bits, and activations of matrix products by row";
      return recipe.activations === "static"
        ? `weights and activations of 8 bits, in ranges of at most ${formatNumber(recipe.calibrationRows)} rows`
        : "weights of 8 bits";
    case "int4":
      return `weights of 4 bits in groups of ${recipe.blockSize}`;
    case "low-rank":
      if (recipe.rank !== undefined) return `layers of rank ${recipe.rank}`;
      if (recipe.energy !== undefined) return `layers that keep ${formatShare(recipe.energy)} of their energy`;
      return `layers of the least energy for a fidelity of ${formatShare(recipe.minFidelity!)}`;
    case "pruned":
      if (recipe.channels !== undefined) return `without the smallest ${formatShare(recipe.channels)} of channels`;
      return `the smallest ${formatShare(recipe.sparsity!)} of weights are zero`;
    case "distilled":
      return `a student of ${recipe.student.length} ${recipe.student.length === 1 ? "layer" : "layers"}, taught for ${recipe.epochs} epochs`;
  }
}

/** Parts of a way that are drawn alike, predicted or measured. */
export type PartName = "edge" | "link" | "queue" | "upload" | "compute" | "readback" | "service" | "rest";

export interface LatencyPart {
  readonly name: PartName;
  readonly ms: number;
  /** Whose clock it was read on; null of a prediction, and of what is left over. */
  readonly clock: "edge" | "runner" | null;
}

/** The parts in the order in which a request goes through them. */
export const WAY = [
  { name: "edge", field: "edgeMs", clock: "edge" },
  { name: "link", field: "linkMs", clock: "edge" },
  { name: "queue", field: "queueMs", clock: "runner" },
  { name: "upload", field: "uploadMs", clock: "runner" },
  { name: "compute", field: "computeMs", clock: "runner" },
  { name: "readback", field: "readbackMs", clock: "runner" },
] as const;

/** Less than this is rounding. */
const LEAST_REST_MS = 0.005;

/**
 * Parts of a reply's latency, in the order of its path; `rest` is the unexplained time. The edge alone has one part.
 */
export function splitLatency(latency: LatencySplit, backend: Backend): LatencyPart[] {
  const parts = WAY.map(({ name, field, clock }) => ({ name, ms: latency[field], clock }));
  return withRest(backend === "edge-wasm" ? parts.slice(0, 1) : parts, latency.totalMs);
}

/** Parts of a prediction; the margin for its confidence is the rest. */
export function splitPrediction(prediction: InferReply["prediction"]): LatencyPart[] {
  const parts: LatencyPart[] = [
    { name: "link", ms: prediction.linkMs, clock: null },
    { name: "queue", ms: prediction.queueMs, clock: null },
    { name: "service", ms: prediction.serviceMs, clock: null },
  ];
  return withRest(parts, prediction.latencyMs);
}

function withRest(parts: readonly LatencyPart[], totalMs: number): LatencyPart[] {
  const restMs = totalMs - parts.reduce((sum, { ms }) => sum + ms, 0);
  return restMs > LEAST_REST_MS ? [...parts, { name: "rest", ms: restMs, clock: null }] : [...parts];
}

/** Something that calibrations have not measured, and why; `isBad` where it was tried. */
interface Unmeasured {
  readonly runnerId: string;
  readonly subject: string;
  readonly reason: string;
  readonly isBad: boolean;
}

/** Calibrations that wait or failed, and variants that a device could not run. */
export function listUnmeasured(calibrations: readonly LatestCalibration[]): Unmeasured[] {
  return calibrations.flatMap(({ runnerId, state, problem, skipped }): Unmeasured[] => {
    if (state === "waiting") return [{ runnerId, subject: "all of it", reason: "its calibration waits", isBad: false }];
    const reason = problem?.detail ?? problem?.title ?? "the calibration failed";
    if (state === "failed") return [{ runnerId, subject: "all of it", reason, isBad: true }];
    return skipped.map(({ variant, backend, deviceKey, problem: found }) => ({
      runnerId,
      subject: `${variant} by ${backend} on ${deviceKey}`,
      reason: found.detail ?? found.title,
      isBad: true,
    }));
  });
}
