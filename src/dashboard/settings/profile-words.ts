import type { Profile } from "../../protocol/profile.ts";
import { formatBytes, formatMeasure, formatNumber } from "../format.ts";
import { namePercentile } from "../verdict-words.ts";

/** What a runner must have, in words. */
export function describeRequirements({ requirements }: Pick<Profile, "requirements">): string {
  const { device, allowSoftware, minLogicalCores, minMemoryBytes, minGpuMemoryBytes, instructionSets, features } =
    requirements;
  return list([
    device === undefined ? null : device === "gpu" ? "a GPU" : "a CPU",
    allowSoftware === false && "no software device",
    minLogicalCores !== undefined && `${minLogicalCores} logical ${minLogicalCores === 1 ? "core" : "cores"}`,
    minMemoryBytes !== undefined && `${formatBytes(minMemoryBytes)} of memory`,
    minGpuMemoryBytes !== undefined && `${formatBytes(minGpuMemoryBytes)} of GPU memory`,
    instructionSets?.join(", "),
    features?.join(", "),
  ]);
}

/** What a placement should reach, in words. */
export function describeTargets({ targets }: Pick<Profile, "targets">): string {
  const { latencyMs, percentile = 0.99, throughputRps, memoryBytes } = targets;
  return list([
    latencyMs !== undefined && `${namePercentile(percentile)} of ${formatMeasure(latencyMs, "ms")} at most`,
    throughputRps !== undefined && `${formatNumber(throughputRps)} requests/s at least`,
    memoryBytes !== undefined && `${formatBytes(memoryBytes)} at most`,
  ]);
}

/** How models are set up by it, in words. */
export function describeSettings({ settings }: Pick<Profile, "settings">): string {
  const { backends, precision, maxBatch, threads } = settings;
  return list([
    backends?.join(", "),
    precision,
    maxBatch !== undefined && `batches of ${maxBatch} at most`,
    threads !== undefined && `${threads} ${threads === 1 ? "thread" : "threads"}`,
  ]);
}

function list(parts: readonly (string | false | null | undefined)[]): string {
  return parts.filter(Boolean).join("; ") || "–";
}
