import type { DiagnosisCheck } from "../protocol/fleet/health.ts";
import type { Profile } from "../protocol/fleet/profile.ts";
import type { Runner, RunnerState } from "../protocol/fleet/runner.ts";
import { formatBytes, formatMeasure, formatNumber, formatShare, type Numbers, PAGE_NUMBERS } from "./numbers.ts";
import type { Tone } from "./tone.ts";
import { namePercentile } from "./validation.ts";

/** Badge of each outcome of a check. */
export const CHECK_OUTCOMES: Record<DiagnosisCheck["outcome"], readonly [Tone, string]> = {
  pass: ["good", "pass"],
  fail: ["bad", "fail"],
  unknown: ["quiet", "not known"],
};

/** Subject of each check, in words. */
export const CHECKS: Record<DiagnosisCheck["check"], string> = {
  utilisation: "Utilisation",
  occupancy: "Occupancy",
  bandwidthShare: "Bandwidth",
  pageOuts: "Page-outs",
  queueDepth: "Queue depth",
  hostLoad: "Host load",
  memoryGrowth: "Memory growth",
  errorRate: "Error rate",
  p99: "p99 against its requirement",
  throttling: "Throttling",
};

/** A value in the unit that a check or finding names: shares as per cent, bytes in binary units. */
export function formatQuantity(value: number | null, unit: string, { measure, bytes }: Numbers = PAGE_NUMBERS): string {
  if (value === null) return "–";
  if (unit.startsWith("share")) return `${formatShare(value)}${unit.slice("share".length)}`;
  if (!unit.startsWith("bytes")) return measure(value, unit);
  return `${value < 0 ? "−" : ""}${bytes(Math.abs(value))}${unit.slice("bytes".length)}`;
}

/** A line of a profile's fit as people read it: bytes come as plain numbers. */
export function spellBytes(requirement: string, text: string): string {
  return requirement.endsWith("bytes") ? text.replace(/\d+/, (bytes) => formatBytes(Number(bytes))) : text;
}

/** Those that failed first, then what is not known, each in the order of the checklist. */
export function orderChecks(checks: readonly DiagnosisCheck[]): DiagnosisCheck[] {
  const rank = { fail: 0, pass: 1, unknown: 2 } as const;
  return checks.toSorted((a, b) => rank[a.outcome] - rank[b.outcome]);
}

/** Tone of each runner state. */
export const RUNNER_TONES: Record<RunnerState, Tone> = {
  online: "good",
  draining: "warn",
  registered: "busy",
  offline: "bad",
};

/** `nvidia-h100 (gpu1, 0000:41:00.0)`: equal cards differ by key and address. */
export function nameDevice({
  key,
  name,
  pciAddress,
}: {
  readonly key: string;
  readonly name: string;
  readonly pciAddress?: string | null | undefined;
}): string {
  return `${name} (${[key, pciAddress].filter(Boolean).join(", ")})`;
}

/** Marks a device whose figures say nothing about a GPU. */
export const SOFTWARE = "software: an emulation, not a GPU";

/** A name, marked where its device is emulated on the CPU. */
export function markSoftware(name: string, software: boolean, mark = "software"): string {
  return software ? `${name} (${mark})` : name;
}

/** Projects that a runner works for. */
export function describeSharing({ shared }: Pick<Runner, "shared">): string {
  return shared ? "all projects" : "its own project";
}

/** How an ephemeral runner differs from others. */
export const EPHEMERAL = "removes itself when it has done its work";

/** A machine in few words. */
export function describeMachine({ cpu, memoryBytes, os }: NonNullable<Runner["capabilities"]>["hardware"]): string {
  return `${cpu.logicalCores} cores · ${formatBytes(memoryBytes)} · ${os}`;
}

/** Whether a runner can be asked anything now. */
export function isConnected({ state }: Runner): boolean {
  return state === "online" || state === "draining";
}

/** Requirements on a runner, in words. */
export function describeRequirements({ requirements }: Pick<Profile, "requirements">): string {
  const {
    device,
    allowSoftware,
    minLogicalCores,
    minMemoryBytes,
    minGpuMemoryBytes,
    minGpus,
    instructionSets,
    features,
  } = requirements;
  return list([
    device === undefined ? null : device === "gpu" ? "a GPU" : "a CPU",
    allowSoftware === false && "no software device",
    minLogicalCores !== undefined && `${minLogicalCores} logical ${minLogicalCores === 1 ? "core" : "cores"}`,
    minMemoryBytes !== undefined && `${formatBytes(minMemoryBytes)} of memory`,
    minGpuMemoryBytes !== undefined && `${formatBytes(minGpuMemoryBytes)} of GPU memory`,
    minGpus !== undefined && `${minGpus} GPUs`,
    instructionSets?.join(", "),
    features?.join(", "),
  ]);
}

/** Targets of a placement, in words. */
export function describeTargets({ targets }: Pick<Profile, "targets">): string {
  const { latencyMs, percentile = 0.99, throughputRps, memoryBytes } = targets;
  return list([
    latencyMs !== undefined && `${namePercentile(percentile)} of ${formatMeasure(latencyMs, "ms")} at most`,
    throughputRps !== undefined && `${formatNumber(throughputRps)} requests/s at least`,
    memoryBytes !== undefined && `${formatBytes(memoryBytes)} at most`,
  ]);
}

/** Serving settings of a profile, in words. */
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
